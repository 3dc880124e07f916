// The page: reads the node's stream of documents and shows them. Texts of other hosts are shown as text only.
const TOKEN_KEY = 'cableway-token';
const SILENCE_MS = 6000;  // then the connection counts as lost

function byId(id) {
  return document.getElementById(id);
}

function scaled(value, step, units) {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return (unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(value >= 9.995 ? 1 : 2)) + ' ' + units[unit];
}

function bitRate(bytesPerSecond) {
  return scaled(bytesPerSecond * 8, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s']);
}

function byteCount(bytes) {
  return scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
}

// As measured: not rounded to nothing.
function latencyText(microseconds) {
  return (microseconds >= 10 ? Math.round(microseconds).toLocaleString('en') : Number(microseconds.toPrecision(2))) + ' us';
}

// "2026-03-01 13:34:56" in the browser's time zone, of RFC 3339.
function localTime(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const two = (number) => String(number).padStart(2, '0');
  return time.getFullYear() + '-' + two(time.getMonth() + 1) + '-' + two(time.getDate()) + ' ' + two(time.getHours()) + ':' +
      two(time.getMinutes()) + ':' + two(time.getSeconds());
}

function percent(share) {
  return (100 * share).toFixed(share < 0.1 ? 1 : 0) + ' %';
}

function counted(number, one, many) {
  return number.toLocaleString('en') + ' ' + (number === 1 ? one : many);
}

// "n0 -> n1" of "n0 -cable-> n1".
function nodesOf(path) {
  return path.replace(/ -[^ ]+-> /g, ' -> ');
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Rows of a table, kept from one document to the next, so that little of the page changes.
class Rows {
  constructor(id) {
    const table = byId(id);
    this.body = table.tBodies[0];
    this.section = table.closest('section');
    this.labels = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
    this.classes = Array.from(table.tHead.rows[0].cells, (cell) => cell.className);
  }

  // `rows`: for each row its cells; a cell is a text, or a function that fills the element.
  show(rows, wholeCells = []) {
    this.section.classList.toggle('empty', rows.length === 0);
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    rows.forEach((cells, index) => {
      const row = this.body.rows[index] || this.body.insertRow();
      cells.forEach((content, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = row.insertCell();
          cell.className = this.classes[column] + (wholeCells.includes(column) ? ' whole' : '');
          cell.setAttribute('data-label', this.labels[column]);
        }
        if (typeof content === 'function') content(cell);
        else setText(cell, content);
      });
    });
  }
}

// A rate with a bar that shows its share of the full one.
function rateCell(rate, full) {
  return (cell) => {
    if (!cell.firstChild) {
      const bar = cell.appendChild(document.createElement('span'));
      bar.appendChild(document.createElement('span'));
      cell.appendChild(document.createElement('span')).className = 'amount';
    }
    const share = full > 0 && rate !== null ? rate / full : 0;
    cell.firstChild.hidden = full === 0;  // the kernel does not know the port's rate
    cell.firstChild.className = 'bar h' + heatOf(share);
    cell.firstChild.firstChild.style.width = Math.min(100, 100 * share).toFixed(1) + '%';
    setText(cell.lastChild, rate === null ? '-' : bitRate(rate));
  };
}

function linesCell(lines) {
  return (cell) => {
    while (cell.childNodes.length > lines.length) cell.lastChild.remove();
    lines.forEach((line, index) => {
      const element = cell.childNodes[index] || cell.appendChild(document.createElement('span'));
      element.className = 'line';
      setText(element, line);
    });
  };
}

function severityCell(severity) {
  return (cell) => {
    cell.className = 'fixed severity ' + severity;
    setText(cell, severity);
  };
}

// Bytes a second from two counts of one node.
class Rates {
  constructor() {
    this.before = new Map();
  }

  // null: not known yet.
  of(key, count, atMs) {
    const before = this.before.get(key);
    if (before && atMs === before.atMs) return before.rate;
    const rate = before && atMs > before.atMs && count >= before.count ? (count - before.count) * 1000 / (atMs - before.atMs) : null;
    this.before.set(key, {count, atMs, rate});
    return rate;
  }

  knows(key) {
    return this.before.has(key);
  }

  forgetOlderThan(atMs) {
    for (const [key, value] of this.before) if (value.atMs < atMs) this.before.delete(key);
  }
}

// Of the interface and its RDMA device together, which count apart; null: not known yet.
function portRate(rates, {interface: name, counts}, direction, atMs) {
  const rate = rates.of(direction + ' ' + name, counts[direction + '_bytes'], atMs);
  const rdmaKey = 'rdma ' + direction + ' ' + name;
  const rdmaBytes = counts['rdma_' + direction + '_bytes'];
  // A device that has answered before is late now.
  if (rdmaBytes === null) return rates.knows(rdmaKey) ? null : rate;
  const rdma = rates.of(rdmaKey, rdmaBytes, atMs);
  return rate === null ? null : rate + (rdma === null ? 0 : rdma);
}

// By interface, {sent, received}: those that are known.
function ratesOfPorts(rates, ports, atMs) {
  const known = new Map();
  for (const port of ports) {
    if (!port.counts) continue;
    const sent = portRate(rates, port, 'sent', atMs);
    const received = portRate(rates, port, 'received', atMs);
    if (sent !== null && received !== null) known.set(port.interface, {sent, received});
  }
  return known;
}

class Page {
  constructor() {
    this.rates = new Rates();
    this.others = new Map();  // by node: its Rates, and by interface what they are
    this.ports = new Rows('ports');
    this.flows = new Rows('flows');
    this.circuits = new Rows('circuits');
    this.events = new Rows('events');
    this.portRates = new Map();
    this.drawLegend();
  }

  drawLegend() {
    HEAT_NAMES.forEach((name, heat) => this.addKey('h' + heat, heat + 3, name));
    this.addKey('elsewhere-key', 3, 'rate not known');
    this.addKey('gone-key', 3, 'gone in the last 24 hours');
    this.addKey('wire-key', 14, 'cables of one wire');
  }

  addKey(name, height, text) {
    const item = byId('legend').appendChild(document.createElement('li'));
    const key = item.appendChild(document.createElement('span'));
    key.className = 'key ' + name;
    key.style.height = height + 'px';
    const label = item.appendChild(document.createElement('span'));
    label.className = 'label';
    label.textContent = text;
  }

  show(name, value) {
    if (name === 'map') this.showMap(value);
    if (name === 'live') this.showLive(value);
    if (name === 'others') this.showOthers(value);
    if (name === 'log') this.showLog(value);
  }

  showMap(map) {
    this.about = counted(map.node_count, 'node', 'nodes') + ', ' + counted(map.cable_count, 'cable', 'cables');
    byId('map-frame').hidden = map.nodes === null;
    if (map.nodes === null) {
      this.map = null;
      return setText(byId('detail'), 'The topology is too large to draw.');
    }
    setText(byId('detail'), '');
    this.map = new CableMap(byId('map'), map, (text) => setText(byId('detail'), text));
    this.showRates();
  }

  // Of nodes that have answered.
  showOthers({nodes}) {
    const before = this.others;
    this.others = new Map(nodes.map(({node, at_ms: atMs, ports}) => {
      const {rates} = before.get(node) || {rates: new Rates()};
      rates.forgetOlderThan(atMs - 60000);
      return [node, {rates, ports: ratesOfPorts(rates, ports, atMs)}];
    }));
    this.showRates();
  }

  showRates() {
    if (!this.map) return;
    const rates = new Map(Array.from(this.others, ([node, {ports}]) => [node, ports]));
    if (this.node) rates.set(this.node, this.portRates);
    this.map.show(rates);
  }

  showLive(live) {
    document.title = live.node + ' - Cableway';
    setText(byId('node'), live.node);
    this.node = live.node;
    setText(byId('about'), 'Cluster ' + live.cluster + (this.about ? ': ' + this.about : '') + '. cablewayd ' + live.version +
        (live.draining ? '. This node drains: no paths lead through it.' : '.'));
    this.portRates = ratesOfPorts(this.rates, live.ports, live.at_ms);
    this.showCards(live);
    this.showProblems(live.problems);
    this.showPorts(live);
    this.showFlows(live);
    this.showCircuits(live);
    this.showRates();
    this.rates.forgetOlderThan(live.at_ms - 60000);
  }

  showCards(live) {
    const total = (which) => Array.from(this.portRates.values()).reduce((sum, rate) => sum + rate[which], 0);
    const up = live.ports.reduce((sum, port) => sum + port.cables.filter((cable) => cable.up).length, 0);
    const known = this.portRates.size > 0;
    setText(byId('sent'), known ? bitRate(total('sent')) : '-');
    setText(byId('received'), known ? bitRate(total('received')) : '-');
    setText(byId('sent-more'), 'over ' + counted(up, 'cable that is up', 'cables that are up'));
    setText(byId('received-more'), 'at ' + counted(live.ports.length, 'port', 'ports'));
    setText(byId('flows-open'), live.own.flows_open.toLocaleString('en'));
    setText(byId('flows-more'), (live.own.flows_waiting > 0 ? counted(live.own.flows_waiting, 'waits', 'wait') + ' for a path; ' : '') +
        live.own.flows_failed.toLocaleString('en') + ' of ' + live.own.flows_opened.toLocaleString('en') + ' failed');
    const relayed = this.rates.of('relayed', live.relayed.bytes, live.at_ms);
    setText(byId('relayed'), relayed === null ? '-' : bitRate(relayed));
    setText(byId('relayed-more'), counted(live.relayed.circuits_open, 'circuit', 'circuits') + '; ' +
        byteCount(live.relayed.memory_bytes) + ' of ' + byteCount(live.relayed.memory_limit_bytes) + ' memory');
  }

  showProblems(problems) {
    byId('problems-section').hidden = problems.length === 0;
    const text = JSON.stringify(problems.map((problem) => [problem.code, problem.interface, problem.text]));
    if (text === this.problemsText) return;
    this.problemsText = text;
    byId('problems').replaceChildren(...problems.map((problem) => {
      const item = document.createElement('li');
      const add = (kind, content) => {
        const element = item.appendChild(document.createElement('div'));
        element.className = kind;
        element.textContent = content;
      };
      add('code ' + problem.severity, problem.code);
      add('what', (problem.interface ? problem.interface + ': ' : '') + problem.text);
      if (problem.advice) add('advice', problem.advice);
      return item;
    }));
  }

  showPorts(live) {
    this.ports.show(live.ports.map((port) => {
      const rate = this.portRates.get(port.interface) || {sent: null, received: null};
      const full = (port.rate_mbps || 0) * 125000;
      const names = port.cables.map((cable) => cable.neighbour + ' ' + cable.interface);
      const latencies = port.cables.filter((cable) => cable.latency_us !== null);
      return [port.interface, linesCell(names.length > 0 ? names : ['-']), this.stateOf(port), rateCell(rate.sent, full),
              rateCell(rate.received, full),
              linesCell(latencies.length > 0 ? latencies.map((cable) => latencyText(cable.latency_us)) : ['-'])];
    }));
  }

  stateOf(port) {
    if (!port.carrier) return 'no link';
    if (port.cables.length === 0) return 'no neighbour heard';
    const up = port.cables.filter((cable) => cable.up).length;
    if (up === 0) return 'heard, not used';
    return up === port.cables.length ? 'up' : up + ' of ' + port.cables.length + ' up';
  }

  showFlows(live) {
    this.flows.show(live.flows.map((flow) => [
      flow.sends ? 'sends' : 'receives', flow.node, linesCell(flow.waits ? ['waits: ' + flow.waits] : flow.paths),
      flow.bytes_per_s === null ? '-' : bitRate(flow.bytes_per_s), byteCount(flow.bytes),
      flow.reroutes === null ? '-' : String(flow.reroutes)]), [2]);
    const rest = live.own.flows_open - live.flows.length;
    setText(byId('flows-rest'), rest > 0 ? 'and ' + rest.toLocaleString('en') +
        ' more: the ones that wait are first, then those that carry most. All: cableway flows' : '');
  }

  showCircuits(live) {
    this.circuits.show(live.circuits.map((circuit) => {
      const rate = this.rates.of('circuit ' + circuit.flow + circuit.path, circuit.bytes, live.at_ms);
      return [nodesOf(circuit.path), rate === null ? '-' : bitRate(rate), byteCount(circuit.bytes)];
    }), [0]);
    const rest = live.relayed.circuits_open - live.circuits.length;
    setText(byId('circuits-rest'), rest > 0 ? 'and ' + rest.toLocaleString('en') + ' more' : '');
  }

  showLog(log) {
    this.events.show(log.events.map((event) => [
      (cell) => {
        cell.classList.add('fixed');
        setText(cell, localTime(event.time));
        cell.title = event.time;
      },
      severityCell(event.severity),
      linesCell([event.code, event.text])]), [2]);
  }
}

// Reads server-sent events by fetch(), which can send the token, unlike EventSource.
class Stream {
  constructor(page) {
    this.page = page;
    this.wait = 500;
    this.run = 0;
    document.addEventListener('visibilitychange', () => document.hidden ? this.stop() : this.start());
    byId('login').addEventListener('submit', (submitted) => this.logIn(submitted));
    this.start();
  }

  state(text, kind) {
    setText(byId('state'), text);
    byId('state').className = 'state ' + kind;
  }

  stop() {
    ++this.run;
    clearTimeout(this.timer);
    if (this.abort) this.abort.abort();
    this.state('paused', '');
  }

  start() {
    const run = ++this.run;
    clearTimeout(this.timer);
    if (this.abort) this.abort.abort();
    this.abort = new AbortController();
    this.read(this.abort).then(() => 'the node has ended the connection', (error) => error.message).then((reason) => {
      if (run !== this.run) return;
      this.state('no answer from the node; retrying', 'lost');
      byId('state').title = reason;
      this.timer = setTimeout(() => this.start(), this.wait);
      this.wait = Math.min(2 * this.wait, 10000);
    });
  }

  async read(abort) {
    const token = sessionStorage.getItem(TOKEN_KEY);
    const response = await fetch('events', {
      headers: token ? {Authorization: 'Bearer ' + token} : {}, cache: 'no-store', credentials: 'omit', signal: abort.signal});
    if (response.status === 401) return this.askForToken(token !== null);
    if (!response.ok) throw new Error((await response.text()).trim());
    byId('login').hidden = true;
    byId('content').hidden = false;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      this.watch(abort);
      const {value, done} = await reader.read();
      if (done) return;
      const parts = (text + value).split('\n\n');
      text = parts.pop();
      for (const part of parts) if (part.startsWith('event: ')) this.take(part);  // else a sign of life
    }
  }

  watch(abort) {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => abort.abort(), SILENCE_MS);
  }

  take(event) {
    const [name, data] = event.split('\n');
    this.page.show(name.slice('event: '.length), JSON.parse(data.slice('data: '.length)));
    this.state('live', 'live');
    this.wait = 500;
  }

  askForToken(hadOne) {
    ++this.run;
    sessionStorage.removeItem(TOKEN_KEY);
    this.state('needs a token', '');
    byId('content').hidden = true;
    byId('login').hidden = false;
    setText(byId('login-fault'), hadOne ? 'This is not the token of the node.' : '');
    byId('token').focus();
  }

  logIn(submitted) {
    submitted.preventDefault();
    const token = byId('token').value.trim();
    byId('token').value = '';
    if (!/^[\x21-\x7e]{16,256}$/.test(token)) {
      return setText(byId('login-fault'), 'A token has 16 to 256 visible ASCII characters.');
    }
    sessionStorage.setItem(TOKEN_KEY, token);
    this.start();
  }
}

new Stream(new Page());
