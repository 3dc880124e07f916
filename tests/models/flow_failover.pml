/* The failover handshake of a flow with several circuits: docs/decisions/0015-flows-with-several-circuits.md.
 *
 * A sender, a receiver, the network between them, and the devices that move the bytes. run_models.py checks that no
 * reachable state breaks a rule (the assertions), that no reachable state is stuck (the process `watch`), and that no
 * execution is infinite. Together the last two mean that every message finishes if a circuit stays alive at both ends.
 *
 * Every step is one d_step over global variables, so that all interleavings of steps are searched and nothing else. In
 * the variants with planted faults one macro leaves out or breaks one rule of the handshake:
 *
 *   RESEND_EARLY                a chunk is sent again without waiting for `retired`
 *   COUNT_ONE_MORE              `retired` also counts a chunk that has begun to land
 *   FENCE_LATE                  the receiver answers `retire` and fences afterwards
 *   ACK_NOT_REPEATED            a new primary does not get the last acknowledgement
 *   GENERATION_IGNORED          `retire` and `retired` are taken for the slot's present circuit
 *   ANNOUNCEMENTS_NOT_REPEATED  a new primary does not get the unfinished announcements
 *   ANNOUNCEMENTS_FIRST         a new primary gets them before the last acknowledgement
 *   SILENT_END                  no `retire` for a circuit whose chunks are all known to have landed
 *   SETUP_KEPT                  `retired` is ignored for a circuit that the sender is still setting up
 *   OLDER_KEPT                  `retire` for a generation that never arrived leaves older ones in the slot alive
 *   OLDER_JOINS                 a circuit may join after a newer one of its slot
 *   SLOT_REUSED_EARLY           a circuit is opened in the slot of one that is not settled
 *   DONE_WHILE_READ             a send is done at its acknowledgement, while a circuit still reads its memory
 */

/* The bounds of the search. */
#ifndef CIRCUITS
#define CIRCUITS 3 /* two from the beginning, the others join */
#endif
#ifndef CUTS
#define CUTS 2 /* deaths and false verdicts, in total */
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef WINDOW
#define WINDOW MESSAGES /* unfinished receives at a time */
#endif
#ifndef READS
#define READS 0 /* 1: also model when a circuit's first hop has read the chunks given to it */
#endif
#ifndef CHUNKS
#define CHUNKS 2 /* of each message */
#endif

/* Planted faults: 1 plants one. */
#ifndef RESEND_EARLY
#define RESEND_EARLY 0
#endif
#ifndef COUNT_ONE_MORE
#define COUNT_ONE_MORE 0
#endif
#ifndef FENCE_LATE
#define FENCE_LATE 0
#endif
#ifndef ACK_NOT_REPEATED
#define ACK_NOT_REPEATED 0
#endif
#ifndef GENERATION_IGNORED
#define GENERATION_IGNORED 0
#endif
#ifndef ANNOUNCEMENTS_NOT_REPEATED
#define ANNOUNCEMENTS_NOT_REPEATED 0
#endif
#ifndef ANNOUNCEMENTS_FIRST
#define ANNOUNCEMENTS_FIRST 0
#endif
#ifndef SILENT_END
#define SILENT_END 0
#endif
#ifndef SLOT_REUSED_EARLY
#define SLOT_REUSED_EARLY 0
#endif
#ifndef SETUP_KEPT
#define SETUP_KEPT 0
#endif
#ifndef OLDER_KEPT
#define OLDER_KEPT 0
#endif
#ifndef OLDER_JOINS
#define OLDER_JOINS 0
#endif
#ifndef DONE_WHILE_READ
#define DONE_WHILE_READ 0
#endif

/* The rules. ONLY_RULE leaves out all others, so that a planted fault is found by the rule that it is meant for. Spin's
 * message begins with the number. */
#ifndef ONLY_RULE
#define ONLY_RULE 0
#endif
#define RULE(number, condition) assert(number && ((ONLY_RULE != 0 && ONLY_RULE != number) || (condition)))
#define NO_WRITE_AFTER_DONE 1  /* a device never writes to the memory of a receive that is done */
#define ONE_CARRIER 2          /* a chunk is never given out while a circuit can still write it, or after it landed */
#define ONCE_IN_ORDER 3        /* each chunk lands once, in a posted receive that is not done */
#define RECEIVE_FIRST 4        /* a send is done only after its receive */
#define NO_READ_AFTER_DONE 5   /* a device never reads the memory of a send that is done */
#define SLOT_SETTLED 6         /* a slot is not used again while its last circuit can be written or owes chunks */
#define NEVER_STUCK 7          /* with a circuit alive at both ends there is a next step until all is done */
#define FRAMES_FIT 8           /* no frame contradicts what its receiver knows */

#define ALL (MESSAGES * CHUNKS)
#define NONE CIRCUITS
/* Places of a channel: more than are ever taken, which is checked. */
#if CIRCUITS > 3
#define TO_RECEIVER_ROOM 8
#define TO_SENDER_ROOM 16
#else
#define TO_RECEIVER_ROOM 6
#define TO_SENDER_ROOM 8
#endif

/* A chunk's number is message * CHUNKS + position. A mask has one bit for each chunk. */
#define MESSAGE_OF(chunk_number) ((chunk_number) / CHUNKS)
#define BELOW(message) ((1 << ((message) * CHUNKS)) - 1)

/* Frames. `setup` and `joined` stand for the exchange that makes a circuit, which travels on the circuit itself. A
 * circuit's number stands for its slot and generation: before[] tells which circuit had its slot earlier. */
mtype = { chunk, retire, setup, announce, ack, retired, joined };
chan to_receiver[CIRCUITS] = [TO_RECEIVER_ROOM] of { mtype, byte };    /* kind; chunk or circuit */
chan to_sender[CIRCUITS] = [TO_SENDER_ROOM] of { mtype, byte, byte };  /* kind; message or circuit; count */

/* The sender. */
#define ABSENT 0
#define OPENING 1
#define LIVE 2
#define ENDED 3   /* fenced; `retired` has not come */
#define SETTLED 4 /* fenced; the count is known, or a newer circuit has the slot */
byte s[CIRCUITS];
byte given[CIRCUITS * ALL]; /* by circuit: the chunks given to it, in order */
byte given_count[CIRCUITS];
/* How many of them are known to have landed, once the circuit has ended. `landed` frames say at most what the receiver
 * has counted then. To know more only lets the slot be used again earlier, so this assumes that they have said all. */
byte known[CIRCUITS];
byte reading[CIRCUITS]; /* mask; only if READS: chunks whose memory the circuit's first hop may still read */
byte resend;                /* mask: chunks to be sent again */
byte next_chunk;            /* first chunk that was never given out */
byte announced;             /* messages below this one may be sent */
byte acked;                 /* messages below this one are acknowledged */
byte send_done;             /* messages below this one are done: the application may rewrite their memory */
byte opened = 2;            /* circuits that the sender has begun to open */

/* The receiver. Its states are ABSENT, LIVE and FENCED. */
#define FENCED 3
byte r[CIRCUITS];
byte counted[CIRCUITS];
byte landed;         /* mask: chunks that have been counted */
byte posted = 1;     /* receives below this one are posted */
byte receive_done;   /* messages below this one are done: the application may rewrite their memory */
byte primary = 0;
byte unfenced = NONE; /* FENCE_LATE: the circuit that is still to be fenced */

/* Which circuit had a circuit's slot before it, and which has it after it. */
byte before[CIRCUITS];
byte after[CIRCUITS];

/* What the devices can still do. mask, by circuit: chunks given to it and neither counted nor fenced by the receiver.
 * They may be written to the receiver's memory at any time, also when the sender has fenced its end and when their
 * frames are lost. */
byte writable[CIRCUITS];

byte cuts;

/* Scratch variables of a d_step. They carry nothing from one step to the next. */
hidden byte kind, what, count, x, y, d, e, i, j;

/* ---- frames ---- */

/* A frame to an end that has fenced the circuit is lost. */
inline to_the_receiver(on, frame, subject) {
  if
  :: r[on] == FENCED -> skip
  :: else -> assert(len(to_receiver[on]) < TO_RECEIVER_ROOM); to_receiver[on]!frame, subject
  fi
}

inline to_the_sender(on, frame, subject, number) {
  if
  :: s[on] == ENDED || s[on] == SETTLED -> skip
  :: else -> assert(len(to_sender[on]) < TO_SENDER_ROOM); to_sender[on]!frame, subject, number
  fi
}

inline lose_frames_to_receiver(on) {
  do
  :: len(to_receiver[on]) > 0 -> to_receiver[on]?_, _
  :: else -> break
  od
}

inline lose_frames_to_sender(on) {
  do
  :: len(to_sender[on]) > 0 -> to_sender[on]?_, _, _
  :: else -> break
  od
}

/* ---- the sender's rules ---- */

#if CIRCUITS > 3
#define BEING_READ (reading[0] | reading[1] | reading[2] | reading[3])
#else
#define BEING_READ (reading[0] | reading[1] | reading[2])
#endif

/* A send is done when it is acknowledged and no circuit reads its memory any more. */
inline finish_sends() {
  do
  :: send_done < acked && (DONE_WHILE_READ || (BEING_READ & BELOW(send_done + 1)) == 0) ->
       RULE(RECEIVE_FIRST, send_done < receive_done);
        send_done++
  :: else -> break
  od
}

inline fence_at_sender(c, state) {
  s[c] = state;
  reading[c] = 0;
  lose_frames_to_sender(c);
  finish_sends()
}

inline forget_given(c) {
  j = 0;
  do
  :: j < ALL -> given[c * ALL + j] = 0; j++
  :: else -> break
  od;
  given_count[c] = 0;
  known[c] = 0
}

/* The chunks from `first` on have not landed. */
inline send_again(c, first) {
  j = first;
  do
  :: j < given_count[c] ->
       RULE(FRAMES_FIT, MESSAGE_OF(given[c * ALL + j]) >= acked);
       resend = resend | (1 << given[c * ALL + j]);
       j++
  :: else -> break
  od;
  forget_given(c)
}

#define ASKED(c) (s[c] == ENDED && !(SILENT_END && known[c] == given_count[c]))

/* The sender finds that a circuit has ended, or believes so. */
inline end_at_sender(c) {
  fence_at_sender(c, ENDED);
  known[c] = counted[c];
  d = 0;
  do
  :: d < CIRCUITS ->
       if
       :: s[d] == LIVE && ASKED(c) -> to_the_receiver(d, retire, c)
       :: else -> skip
       fi;
       d++
  :: else -> break
  od;
  if
  :: RESEND_EARLY -> send_again(c, known[c])
  :: else -> skip
  fi
}

/* `retired`: circuit x was fenced after `count` chunks. */
inline take_retired() {
  do
  :: GENERATION_IGNORED && after[x] != NONE -> x = after[x]
  :: else -> break
  od;
  if
  :: s[x] == SETTLED || s[x] == ABSENT -> skip /* a repetition */
  :: SETUP_KEPT && s[x] == OPENING -> skip
  :: else ->
       fence_at_sender(x, SETTLED);
       RULE(FRAMES_FIT, known[x] <= count && count <= given_count[x]);
       send_again(x, count)
  fi
}

/* `ack`: all messages up to `what` are done. A circuit keeps its chunks in order, so those that were given to it before
 * a chunk of such a message have landed, too. */
inline take_ack() {
  if
  :: what < acked -> skip
  :: else ->
       RULE(FRAMES_FIT, (resend & BELOW(what + 1)) == 0 && next_chunk >= (what + 1) * CHUNKS);
       acked = what + 1;
       d = 0;
       do
       :: d < CIRCUITS ->
            i = given_count[d];
            do
            :: i > known[d] && MESSAGE_OF(given[d * ALL + i - 1]) > what -> i--
            :: else -> break
            od;
            known[d] = i;
            d++
       :: else -> break
       od;
       finish_sends()
  fi
}

/* The circuit c is set up: it gets every question that is not answered. */
inline take_joined(c) {
  s[c] = LIVE;
  d = 0;
  do
  :: d < CIRCUITS ->
       if
       :: ASKED(d) -> to_the_receiver(c, retire, d)
       :: else -> skip
       fi;
       d++
  :: else -> break
  od
}

inline sender_receives(c) {
  d_step {
    to_sender[c]?kind, what, count;
    printf("sender receives %e %d (count %d) on circuit %d\n", kind, what, count, c);
    if
    :: kind == announce ->
         RULE(FRAMES_FIT, what < announced || (what == announced && what < acked + WINDOW));
         if
         :: what == announced -> announced++
         :: else -> skip
         fi
    :: kind == ack -> take_ack()
    :: kind == retired -> x = what; take_retired()
    :: kind == joined -> take_joined(c)
    fi;
    skip
  }
}

#if CIRCUITS > 3
#define CAN_BE_WRITTEN (writable[0] | writable[1] | writable[2] | writable[3])
#else
#define CAN_BE_WRITTEN (writable[0] | writable[1] | writable[2])
#endif

/* Gives chunk x to the circuit c. */
inline give(c, mask) {
  RULE(NO_READ_AFTER_DONE, MESSAGE_OF(x) >= send_done);
  RULE(ONE_CARRIER, ((CAN_BE_WRITTEN | landed) & (mask)) == 0);
  given[c * ALL + given_count[c]] = x;
  given_count[c]++;
  reading[c] = reading[c] | (READS * (mask));
  if
  :: r[c] == LIVE -> writable[c] = writable[c] | (mask)
  :: else -> skip
  fi;
  to_the_receiver(c, chunk, x)
}

#define MAY_GIVE (resend != 0 || next_chunk < announced * CHUNKS)

/* Chunks that are sent again go before new ones. */
inline sender_gives(c) {
  d_step {
    s[c] == LIVE && MAY_GIVE ->
    if
    :: resend != 0 ->
         x = 0;
         do
         :: (resend & (1 << x)) == 0 -> x++
         :: else -> break
         od;
         resend = resend & ~(1 << x)
    :: else -> x = next_chunk; next_chunk++
    fi;
    printf("sender gives chunk %d to circuit %d\n", x, c);
    give(c, 1 << x);
    x = 0
  }
}

/* The first hop has read all that was given to it. */
inline sender_completes(c) {
  d_step {
    reading[c] != 0 -> printf("first hop of circuit %d has read its chunks\n", c);
    reading[c] = 0;
    finish_sends();
    skip
  }
}

#define CAN_SETTLE(c) (s[c] == SETTLED || (s[c] == ENDED && (SLOT_REUSED_EARLY || known[c] == given_count[c])))
#define OWED(c) (s[c] == ENDED && counted[c] < given_count[c])
#define USED(c) (s[c] == LIVE || s[c] == OPENING)

/* A circuit that is ended at the sender can be replaced: in a free slot (over == NONE), or in that of an older circuit
 * that is settled. */
inline sender_opens(c, over) {
  d_step {
    opened == c && USED(0) + USED(1) + USED(2) < 2 &&
    (over == NONE || (over < c && after[over] == NONE && CAN_SETTLE(over)))
    -> printf("sender opens circuit %d in the slot of %d (%d: a free slot)\n", c, over, NONE);
       opened++;
       s[c] = OPENING;
       if
       :: over != NONE ->
            RULE(SLOT_SETTLED, writable[over] == 0 && !OWED(over));
            before[c] = over;
            after[over] = c;
            s[over] = SETTLED;
            forget_given(over)
       :: else -> skip
       fi;
       to_receiver[c]!setup, 0
  }
}

proctype sender() {
end:
  do
  :: sender_receives(0)
  :: sender_receives(1)
  :: sender_receives(2)
  :: sender_gives(0)
  :: sender_gives(1)
  :: sender_gives(2)
  :: sender_completes(0)
  :: sender_completes(1)
  :: sender_completes(2)
#if CIRCUITS > 3
  :: sender_receives(3)
  :: sender_gives(3)
  :: sender_completes(3)
#endif
  od
}

/* ---- the receiver's rules ---- */

/* A new primary gets the last acknowledgement and all unfinished announcements again, in this order: the sender
 * refuses an announcement beyond its window. */
inline choose_primary() {
  primary = 0;
  do
  :: primary < CIRCUITS && r[primary] != LIVE -> primary++
  :: else -> break
  od;
  if
  :: primary == NONE -> skip
  :: else ->
       if
       :: receive_done > 0 && !ACK_NOT_REPEATED && !ANNOUNCEMENTS_FIRST ->
            to_the_sender(primary, ack, receive_done - 1, 0)
       :: else -> skip
       fi;
       j = receive_done;
       do
       :: j < posted && !ANNOUNCEMENTS_NOT_REPEATED -> to_the_sender(primary, announce, j, 0); j++
       :: else -> break
       od;
       if
       :: receive_done > 0 && ANNOUNCEMENTS_FIRST -> to_the_sender(primary, ack, receive_done - 1, 0)
       :: else -> skip
       fi
  fi
}

/* Fences the circuit: nothing is written there any more, and the count is frozen. */
inline fence_at_receiver(c) {
  r[c] = FENCED;
  if
  :: COUNT_ONE_MORE && writable[c] != 0 -> counted[c]++
  :: else -> skip
  fi;
  writable[c] = 0;
  lose_frames_to_receiver(c);
  if
  :: primary == c -> choose_primary()
  :: else -> skip
  fi
}

/* The receiver finds that a circuit has ended, or believes so: it tells on all live circuits. */
inline end_at_receiver(c) {
  fence_at_receiver(c);
  d = 0;
  do
  :: d < CIRCUITS ->
       if
       :: r[d] == LIVE -> to_the_sender(d, retired, c, counted[c])
       :: else -> skip
       fi;
       d++
  :: else -> break
  od
}

/* Older circuits in the slot of c are over: the sender has settled them. One whose set-up is still under way may not
 * join any more. */
inline fence_older(c) {
  y = before[c];
  do
  :: y != NONE ->
       if
       :: r[y] == LIVE || (r[y] == ABSENT && !OLDER_JOINS) -> fence_at_receiver(y)
       :: else -> skip
       fi;
       y = before[y]
  :: else -> break
  od
}

/* `retire` of circuit x came over the circuit c. */
inline take_retire(c) {
  e = x;
  do
  :: GENERATION_IGNORED && after[x] != NONE && r[after[x]] != ABSENT -> x = after[x]
  :: else -> break
  od;
  if
  :: after[x] != NONE && r[after[x]] != ABSENT -> skip /* a newer circuit has the slot: the sender knows all about x */
  :: else ->
       if
       :: r[x] == LIVE && FENCE_LATE -> unfenced = x
       :: r[x] == LIVE && !FENCE_LATE -> fence_at_receiver(x)
       :: r[x] == ABSENT -> /* it may not join any more */
            fence_at_receiver(x);
            if
            :: OLDER_KEPT -> skip
            :: else -> fence_older(x)
            fi
       :: r[x] == FENCED -> skip
       fi;
       to_the_sender(c, retired, e, counted[x])
  fi;
  e = 0
}

/* The last hop has written chunk `what` whole. Messages are done in order. */
inline take_chunk(c) {
  RULE(ONCE_IN_ORDER, (landed & (1 << what)) == 0 && MESSAGE_OF(what) < posted && MESSAGE_OF(what) >= receive_done);
  landed = landed | (1 << what);
  writable[c] = writable[c] & ~(1 << what);
  counted[c]++;
  do
  :: receive_done < posted && (landed & BELOW(receive_done + 1)) == BELOW(receive_done + 1) ->
       if
       :: primary != NONE -> to_the_sender(primary, ack, receive_done, 0)
       :: else -> skip
       fi;
       receive_done++
  :: else -> break
  od
}

/* A circuit joins: it gets all counts. */
inline take_setup(c) {
  r[c] = LIVE;
  to_the_sender(c, joined, 0, 0);
  d = 0;
  do
  :: d < CIRCUITS ->
       if
       :: r[d] == FENCED && (after[d] == NONE || r[after[d]] == ABSENT) -> to_the_sender(c, retired, d, counted[d])
       :: else -> skip
       fi;
       d++
  :: else -> break
  od;
  fence_older(c);
  if
  :: primary == NONE -> choose_primary()
  :: else -> skip
  fi
}

inline receiver_receives(c) {
  d_step {
    to_receiver[c]?kind, what;
    printf("receiver receives %e %d on circuit %d\n", kind, what, c);
    if
    :: kind == chunk -> take_chunk(c)
    :: kind == retire -> x = what; take_retire(c)
    :: kind == setup -> take_setup(c)
    fi;
    skip
  }
}

#define MAY_POST (posted < MESSAGES && posted < receive_done + WINDOW)

/* Posts the receive before it announces it. */
inline receiver_posts() {
  d_step {
    MAY_POST ->
    printf("receiver posts receive %d\n", posted);
    if
    :: primary != NONE -> to_the_sender(primary, announce, posted, 0)
    :: else -> skip
    fi;
    posted++
  }
}

proctype receiver() {
end:
  do
  :: receiver_receives(0)
  :: receiver_receives(1)
  :: receiver_receives(2)
#if CIRCUITS > 3
  :: receiver_receives(3)
#endif
  :: receiver_posts()
#if FENCE_LATE
  :: d_step {
       unfenced != NONE -> printf("receiver fences circuit %d\n", unfenced);
       x = unfenced;
       unfenced = NONE;
       fence_at_receiver(x);
       skip
     }
#endif
  od
}

/* ---- the network: what may happen, and need not ---- */

#define READ_BY_SENDER(c) (s[c] == OPENING || s[c] == LIVE)
#define READ_BY_RECEIVER(c) (r[c] == ABSENT || r[c] == LIVE)

/* A circuit dies and one end finds it, or one end fences a healthy circuit. Frames that are in flight to the other end
 * may still arrive. */
inline sender_end_cut(c) {
  d_step {
    cuts < CUTS && USED(c) && r[c] != FENCED -> printf("cut: sender ends circuit %d\n", c);
    cuts++;
    end_at_sender(c);
    skip
  }
}

inline receiver_end_cut(c) {
  d_step {
    cuts < CUTS && USED(c) && r[c] == LIVE -> printf("cut: receiver ends circuit %d\n", c);
    cuts++;
    end_at_receiver(c);
    skip
  }
}

/* The other end finds it, too: later or never. */
inline sender_notices(c) {
  d_step {
    USED(c) && r[c] == FENCED -> printf("sender notices the end of circuit %d\n", c);
    end_at_sender(c);
    skip
  }
}

inline receiver_notices(c) {
  d_step {
    r[c] == LIVE && s[c] >= ENDED -> printf("receiver notices the end of circuit %d\n", c);
    end_at_receiver(c);
    skip
  }
}

proctype network() {
end:
  do
  :: sender_end_cut(0)
  :: sender_end_cut(1)
  :: sender_end_cut(2)
  :: receiver_end_cut(0)
  :: receiver_end_cut(1)
  :: receiver_end_cut(2)
  :: sender_notices(0)
  :: sender_notices(1)
  :: sender_notices(2)
  :: receiver_notices(0)
  :: receiver_notices(1)
  :: receiver_notices(2)
  :: sender_opens(2, NONE)
  :: sender_opens(2, 0)
  :: sender_opens(2, 1)
#if CIRCUITS > 3
  :: sender_end_cut(3)
  :: receiver_end_cut(3)
  :: sender_notices(3)
  :: receiver_notices(3)
  :: sender_opens(3, NONE)
  :: sender_opens(3, 0)
  :: sender_opens(3, 1)
  :: sender_opens(3, 2)
#endif
  od
}

/* ---- what is checked in every state ---- */

/* Nothing is left to do on circuit c. What is in flight from an end that has fenced the circuit can be lost, so nothing
 * may depend on it. */
#define QUIET(c) ((len(to_sender[c]) == 0 || r[c] == FENCED) && (len(to_receiver[c]) == 0 || s[c] >= ENDED) && \
                  !(s[c] == LIVE && MAY_GIVE) && reading[c] == 0)
#define ALIVE(c) (s[c] == LIVE && r[c] == LIVE)
#if CIRCUITS > 3
#define ALL_QUIET (QUIET(0) && QUIET(1) && QUIET(2) && QUIET(3))
#define ANY_ALIVE (ALIVE(0) || ALIVE(1) || ALIVE(2) || ALIVE(3))
#else
#define ALL_QUIET (QUIET(0) && QUIET(1) && QUIET(2))
#define ANY_ALIVE (ALIVE(0) || ALIVE(1) || ALIVE(2))
#endif
#define FINISHED (receive_done == MESSAGES && send_done == MESSAGES)

/* These steps change nothing, so they add no states. A device's write or read is checked against what the application
 * does with the memory. And if neither end can make a step, all messages are done or no circuit is alive. They would be
 * cycles in the search for infinite executions, which leaves them out (TERMINATION). */
inline device_writes(c) {
  d_step { writable[c] != 0 -> RULE(NO_WRITE_AFTER_DONE, (writable[c] & BELOW(receive_done)) == 0) }
}

inline device_reads(c) {
  d_step { reading[c] != 0 -> RULE(NO_READ_AFTER_DONE, (reading[c] & BELOW(send_done)) == 0) }
}

proctype watch() {
end:
  do
#ifndef TERMINATION
  :: device_writes(0)
  :: device_writes(1)
  :: device_writes(2)
  :: device_reads(0)
  :: device_reads(1)
  :: device_reads(2)
#if CIRCUITS > 3
  :: device_writes(3)
  :: device_reads(3)
#endif
  :: d_step { ALL_QUIET && !MAY_POST && unfenced == NONE -> RULE(NEVER_STUCK, FINISHED || !ANY_ALIVE) }
#else
  :: false
#endif
  od
}

init {
  d_step {
    i = 0;
    do
    :: i < CIRCUITS -> before[i] = NONE; after[i] = NONE; i++
    :: else -> break
    od;
    s[0] = LIVE;
    s[1] = LIVE;
    r[0] = LIVE;
    r[1] = LIVE;
    to_sender[0]!announce, 0, 0
  }
  atomic {
    run sender();
    run receiver();
    run network();
    run watch()
  }
}
