'use strict';
// The map: cables as two curves, one per direction. The drawing of `cableway sim --html` (cable_map.cc), updated live.
const SVG = 'http://www.w3.org/2000/svg';
const HEAT_STEPS = [0.25, 0.5, 0.75, 0.9];
const HEAT_NAMES = ['idle', 'below 25 %', 'below 50 %', 'below 75 %', 'below 90 %', '90 % and more'];
const LANE_WIDTHS = [1.5, 2.5, 3, 3.5, 4.5, 5.5];
const BOX_HEIGHT = 36;
const LANE_GAP = 4.5;  // of a direction from the middle of its cable
const LABEL = {height: 14, gap: 11, widest: '888.8 Mbit/s'};
const TWIN_GAP = 16;  // between the cables of a wire, as routing/layout bends them
const JACKET = 24;  // of a wire's band around the middle of its outermost cables

function heatOf(share) {
  if (!(share >= 0.0005)) return 0;
  return 1 + HEAT_STEPS.filter((step) => share >= step).length;
}

function svgElement(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(element);
  return element;
}

function round(number) {
  return Math.round(number * 10) / 10;
}

// A quadratic curve. The control point is twice as far from the straight line as the curve gets.
class Curve {
  constructor(begin, control, end) {
    this.begin = begin;
    this.control = control;
    this.end = end;
  }

  static of(a, b, bend) {
    const length = Math.max(Math.hypot(b.x - a.x, b.y - a.y), 1);
    const offset = 2 * bend / length;
    return new Curve(a, {x: (a.x + b.x) / 2 - (b.y - a.y) * offset, y: (a.y + b.y) / 2 + (b.x - a.x) * offset}, b);
  }

  at(where) {
    const rest = 1 - where;
    const mix = (axis) => rest * rest * this.begin[axis] + 2 * rest * where * this.control[axis] + where * where * this.end[axis];
    return {x: mix('x'), y: mix('y')};
  }

  // The unit tangent at a place.
  along(where) {
    const part = (axis) => (1 - where) * (this.control[axis] - this.begin[axis]) + where * (this.end[axis] - this.control[axis]);
    const length = Math.max(Math.hypot(part('x'), part('y')), 1e-9);
    return {x: part('x') / length, y: part('y') / length};
  }

  reversed() {
    return new Curve(this.end, this.control, this.begin);
  }

  // A parallel curve to the right, seen from `begin`.
  beside(distance) {
    const length = Math.max(Math.hypot(this.end.x - this.begin.x, this.end.y - this.begin.y), 1e-9);
    const x = -(this.end.y - this.begin.y) / length * distance;
    const y = (this.end.x - this.begin.x) / length * distance;
    const moved = (place) => ({x: place.x + x, y: place.y + y});
    return new Curve(moved(this.begin), moved(this.control), moved(this.end));
  }

  path() {
    const text = (place) => round(place.x) + ' ' + round(place.y);
    return 'M' + text(this.begin) + 'Q' + text(this.control) + ' ' + text(this.end);
  }
}

function boxAround(middle, width, height) {
  return {left: middle.x - width / 2, top: middle.y - height / 2, right: middle.x + width / 2, bottom: middle.y + height / 2};
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

class Lane {
  constructor(curve, parent) {
    this.curve = curve.beside(LANE_GAP);
    this.group = svgElement('g', {}, parent);
    this.line = svgElement('path', {class: 'lane', d: this.curve.path()}, this.group);
    this.arrow = svgElement('path', {class: 'arrow'}, this.group);
    this.show(null);
  }

  // `share` of the cable's rate; null: not known.
  show(share) {
    const heat = share === null ? 0 : heatOf(share);
    this.group.setAttribute('class', share === null ? 'elsewhere' : 'h' + heat);
    const width = LANE_WIDTHS[heat];
    this.line.setAttribute('stroke-width', width);
    const tip = this.curve.at(0.62);
    const ahead = this.curve.along(0.62);
    const size = 6 + width / 2;
    const base = {x: tip.x - ahead.x * size, y: tip.y - ahead.y * size};
    const side = size * 0.8;
    this.arrow.setAttribute('d', 'M' + round(tip.x + ahead.x * size / 2) + ' ' + round(tip.y + ahead.y * size / 2) +
        'L' + round(base.x - ahead.y * side) + ' ' + round(base.y + ahead.x * side) +
        'L' + round(base.x + ahead.y * side) + ' ' + round(base.y - ahead.x * side) + 'Z');
  }
}

// A port of a switch is drawn as a cable to the switch, and carries what all of its cables do.
function cableOfPort(port) {
  return {...port, cable: port.port, a: {node: port.node, interface: port.interfaces.join('+')}, b: {node: port.switch, interface: ''},
          used: port.unused < port.cables.length, latency_us: null, loss_percent: 0};
}

class CableMap {
  // `tell` is called with the text about the cable that has the focus or the pointer.
  constructor(svg, map, tell) {
    this.svg = svg;
    map = {...map, cables: map.cables.concat(map.gone.map((cable) => ({...cable, gone: true})), map.ports.map(cableOfPort))};
    this.map = map;
    this.tell = tell;
    this.taken = [];
    svg.replaceChildren();
    this.labelWidth = this.measureLabel();
    this.setSize();
    for (const node of map.nodes) this.taken.push(boxAround(node, node.width + 4, BOX_HEIGHT + 4));
    this.wires = this.findWires();
    for (const wire of this.wires) if (wire.cables.length > 1) this.drawBand(wire);
    for (const wire of this.wires) wire.drawn = wire.cables.map((cable) => this.drawCable(cable, wire));
    for (const node of map.nodes) this.drawNode(node);
    for (const wire of this.wires) if (wire.drawn.some((drawn) => !drawn.cable.gone)) wire.label = this.drawLabel(wire);
  }

  // Each with its cables, one or several, in the order of the cables.
  findWires() {
    const shared = new Map();
    for (const wire of this.map.wires) for (const name of wire.cables) shared.set(name, wire);
    const found = new Map();
    for (const cable of this.map.cables) {
      const key = shared.get(cable.cable) || cable;
      if (!found.has(key)) found.set(key, {cables: [], rate: (key.rate_mbps || 0) * 125000});
      found.get(key).cables.push(cable);
    }
    return Array.from(found.values(), (wire) => ({...wire, curve: this.curveOfWire(wire.cables)}));
  }

  // In the middle of its cables.
  curveOfWire(cables) {
    const [first] = cables;
    const bends = cables.map((cable) => cable.a.node === first.a.node ? cable.bend : -cable.bend);
    return this.curveOf({...first, bend: bends.reduce((sum, bend) => sum + bend, 0) / bends.length});
  }

  drawBand(wire) {
    const width = TWIN_GAP * (wire.cables.length - 1) + JACKET;
    svgElement('path', {class: 'wire', d: wire.curve.path(), 'stroke-width': width}, this.svg);
  }

  // With the font that the browser has.
  measureLabel() {
    const text = svgElement('text', {class: 'value'}, this.svg);
    text.textContent = LABEL.widest;
    const width = (text.getComputedTextLength() || 80) + 4;
    text.remove();
    return width;
  }

  setSize() {
    let box = {left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity};
    const hold = (place, beside, above) => {
      box = {left: Math.min(box.left, place.x - beside), top: Math.min(box.top, place.y - above),
             right: Math.max(box.right, place.x + beside), bottom: Math.max(box.bottom, place.y + above)};
    };
    for (const node of this.map.nodes) hold(node, node.width / 2 + 10, BOX_HEIGHT / 2 + 10);
    // Beside the outermost cable of a wire there is its label.
    for (const cable of this.map.cables) hold(this.curveOf(cable).at(0.5), this.labelWidth + JACKET, LABEL.height + JACKET);
    if (this.map.nodes.length === 0) box = {left: 0, top: 0, right: 10, bottom: 10};
    const width = box.right - box.left;
    this.middle = {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
    this.svg.setAttribute('viewBox', [box.left, box.top, width, box.bottom - box.top].map(round).join(' '));
    this.svg.setAttribute('width', round(width));
    this.svg.setAttribute('height', round(box.bottom - box.top));
    // Smaller text would be illegible: the frame scrolls instead.
    this.svg.style.minWidth = round(width * 0.62) + 'px';
    const own = this.map.nodes.find((node) => node.name === this.map.node);
    const frame = this.svg.parentElement;
    if (own) frame.scrollLeft = (own.x - box.left) / width * frame.scrollWidth - frame.clientWidth / 2;
  }

  curveOf(cable) {
    return Curve.of(this.map.nodes[cable.a.node], this.map.nodes[cable.b.node], cable.bend);
  }

  nameOf(end) {
    return this.map.nodes[end.node].name;
  }

  endText(end) {
    return this.nameOf(end) + (end.interface ? ' ' + end.interface : '');
  }

  drawCable(cable, wire) {
    const curve = this.curveOf(cable);
    const group = svgElement('g', {class: 'cable' + (cable.gone ? ' gone' : cable.used ? '' : ' down'), tabindex: '0', role: 'img'}, this.svg);
    svgElement('path', {class: 'reach', d: curve.path()}, group);
    const drawn = {cable, wire, group, fromA: new Lane(curve, group), fromB: new Lane(curve.reversed(), group)};
    group.addEventListener('focus', () => this.choose(drawn));
    group.addEventListener('pointerenter', () => this.choose(drawn));
    this.describe(drawn, this.limitText(drawn));
    return drawn;
  }

  limitText({cable, wire}) {
    if (cable.gone) return 'gone since ' + localTime(cable.since);
    const parts = [bitRate(cable.rate_mbps * 125000) + ' each way'];
    if (cable.port) return parts.concat(this.portText(cable)).join(', ');
    if (cable.latency_us !== null) parts.push(latencyText(cable.latency_us));
    else parts.push('latency -');
    if (cable.loss_percent > 0) parts.push('loses ' + cable.loss_percent + ' % of packets');
    if (cable.draining) parts.push('drains');
    else if (!cable.used) parts.push('not used');
    const whole = wire.cables.length > 1 && !wire.cables.some((each) => each.gone);
    if (whole) parts.push('one of ' + wire.cables.length + ' cables of a wire, together ' + bitRate(wire.rate));
    return parts.join(', ');
  }

  portText(port) {
    const parts = ['joins ' + port.others + ' other ports'];
    if (port.draining) parts.push('drains');
    else if (port.unused > 0) parts.push(port.used ? port.unused + ' of its ' + port.cables.length + ' cables not used' : 'not used');
    return parts;
  }

  describe(drawn, text) {
    const {cable} = drawn;
    drawn.text = this.endText(cable.a) + ' - ' + this.endText(cable.b) + ': ' + text;
    drawn.group.setAttribute('aria-label', drawn.text);
    if (this.chosen === drawn) this.tell(drawn.text);
  }

  choose(drawn) {
    this.chosen = drawn;
    this.tell(drawn.text);
  }

  drawNode(node) {
    const isOwn = node.name === this.map.node;
    const look = (node.switch ? ' switch' : '') + (isOwn ? ' own' : '') + (node.draining ? ' drains' : '');
    svgElement('rect', {class: 'node' + look, x: round(node.x - node.width / 2),
                        y: round(node.y - BOX_HEIGHT / 2), width: node.width, height: BOX_HEIGHT, rx: node.switch ? 1 : 9}, this.svg);
    const note = node.draining ? 'drains' : isOwn ? 'this node' : '';
    const name = svgElement('text', {class: 'name', x: round(node.x), y: round(node.y + (note ? -1 : 5))}, this.svg);
    name.textContent = node.name;
    if (!note) return;
    svgElement('text', {class: 'note', x: round(node.x), y: round(node.y + 12)}, this.svg).textContent = note;
  }

  // In a free place beside the wire, or null.
  drawLabel(wire) {
    for (const where of [0.5, 0.4, 0.6, 0.3, 0.7]) {
      for (const outward of [true, false]) {
        const at = this.placeBeside(wire, where, outward);
        const box = boxAround(at, this.labelWidth, LABEL.height);
        if (this.taken.some((other) => overlap(box, other))) continue;
        this.taken.push(box);
        return svgElement('text', {class: 'value', x: round(at.x), y: round(at.y + 4)}, this.svg);
      }
    }
    return null;
  }

  placeBeside({curve, cables}, where, outward) {
    const at = curve.at(where);
    const ahead = curve.along(where);
    let aside = {x: -ahead.y, y: ahead.x};
    const away = aside.x * (at.x - this.middle.x) + aside.y * (at.y - this.middle.y);
    if ((away > 0) !== outward) aside = {x: -aside.x, y: -aside.y};
    const gap = cables.length > 1 ? (TWIN_GAP * (cables.length - 1) + JACKET) / 2 + 2 : LABEL.gap;
    const distance = gap + Math.abs(aside.x) * this.labelWidth / 2 + Math.abs(aside.y) * LABEL.height / 2;
    return {x: at.x + aside.x * distance, y: at.y + aside.y * distance};
  }

  // `rates`: by node and interface, {sent, received} in bytes a second. A wire's label is what its cables carry together.
  show(rates) {
    for (const wire of this.wires) {
      const known = wire.drawn.map((drawn) => this.showCable(drawn, rates)).filter((each) => each !== null);
      if (!wire.label) continue;
      const total = (direction) => known.reduce((sum, each) => sum + each[direction], 0);
      setText(wire.label, known.length > 0 ? bitRate(Math.max(total('fromA'), total('fromB'))) : '');
    }
  }

  // What the ports of that end's node have counted. A port on a switch may be several interfaces, the functions of a plug.
  // null: none is known.
  rateAt(end, interfaces, rates) {
    const ofNode = rates.get(this.nameOf(end));
    const known = ofNode ? interfaces.map((name) => ofNode.get(name)).filter((rate) => rate) : [];
    const total = (direction) => known.reduce((sum, rate) => sum + rate[direction], 0);
    return known.length > 0 ? {sent: total('sent'), received: total('received')} : null;
  }

  // By this node's counters where it has an end of the cable, which are the newest. null: not known.
  rateOf({a, b, interfaces}, rates) {
    const atA = this.rateAt(a, interfaces || [a.interface], rates);
    const atB = this.rateAt(b, [b.interface], rates);
    if (atA && (!atB || this.nameOf(b) !== this.map.node)) return {fromA: atA.sent, fromB: atA.received};
    return atB ? {fromA: atB.received, fromB: atB.sent} : null;
  }

  // null: its rates are not known.
  showCable(drawn, rates) {
    const {cable, fromA, fromB} = drawn;
    const rate = cable.gone ? null : this.rateOf(cable, rates);
    const full = cable.rate_mbps * 125000;
    fromA.show(rate && rate.fromA / full);
    fromB.show(rate && rate.fromB / full);
    const direction = (from, to, value) => this.nameOf(from) + ' to ' + this.nameOf(to) + ' ' + bitRate(value) + ' (' +
        percent(value / full) + ')';
    this.describe(drawn, (rate ? direction(cable.a, cable.b, rate.fromA) + ', ' + direction(cable.b, cable.a, rate.fromB) + '; ' : '') +
        this.limitText(drawn));
    return rate;
  }
}
