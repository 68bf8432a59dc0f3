// Layout of a small graph: rings around the centre, then a deterministic relaxation.

const ROUNDS = 240;
const REACH = 0.3;

// Gives every node x and y in [-1, 1] and its ring; the same graph always looks the same.
export function layout(center, ids, links) {
  const near = neighbours(ids, links);
  const nodes = rings(center, ids, near);
  relax([...nodes.values()], links.map(({ from, to }) => [nodes.get(from), nodes.get(to)]));
  return fitted(nodes, near);
}

function neighbours(ids, links) {
  const near = new Map(ids.map((id) => [id, new Set()]));
  for (const { from, to } of links) {
    near.get(from)?.add(to);
    near.get(to)?.add(from);
  }
  return near;
}

// Breadth first; every branch gets a slice of the circle in proportion to its size.
function rings(center, ids, near) {
  const children = new Map(ids.map((id) => [id, []]));
  const seen = new Set([center]);
  for (const queue = [center]; queue.length; ) {
    const id = queue.shift();
    for (const next of near.get(id)) {
      if (seen.has(next)) continue;
      seen.add(next);
      children.get(id).push(next);
      queue.push(next);
    }
  }
  const nodes = new Map();
  const weight = (id) => Math.max(1, children.get(id).reduce((sum, child) => sum + weight(child), 0));
  const place = (id, ring, from, to) => {
    const angle = (from + to) / 2;
    nodes.set(id, { id, ring, x: ring * Math.cos(angle), y: ring * Math.sin(angle) });
    let at = from;
    const all = weight(id);
    for (const child of children.get(id)) {
      const end = at + ((to - from) * weight(child)) / all;
      place(child, ring + 1, at, end);
      at = end;
    }
  };
  place(center, 0, -Math.PI, Math.PI);
  ids.filter((id) => !nodes.has(id)).forEach((id, at) => nodes.set(id, { id, ring: 3, x: 3 * Math.cos(at), y: 3 * Math.sin(at) }));
  return nodes;
}

function relax(nodes, springs) {
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 0.08 * (1 - round / ROUNDS);
    const push = new Map(nodes.map((node) => [node, { x: 0, y: 0 }]));
    for (let one = 0; one < nodes.length; one += 1) {
      for (let other = one + 1; other < nodes.length; other += 1) repel(nodes[one], nodes[other], push);
    }
    for (const [from, to] of springs) attract(from, to, push);
    for (const [node, force] of push) {
      if (node.ring === 0) continue;
      const size = Math.hypot(force.x, force.y) || 1;
      node.x += (force.x / size) * Math.min(size, heat);
      node.y += (force.y / size) * Math.min(size, heat);
    }
  }
}

function repel(one, other, push) {
  const dx = one.x - other.x || 0.001;
  const dy = one.y - other.y || 0.001;
  const strength = REACH / Math.max(dx * dx + dy * dy, 0.02);
  push.get(one).x += dx * strength;
  push.get(one).y += dy * strength;
  push.get(other).x -= dx * strength;
  push.get(other).y -= dy * strength;
}

function attract(from, to, push) {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const distance = Math.hypot(dx, dy) || 0.001;
  const strength = (0.35 * (distance - 1)) / distance;
  push.get(from).x += dx * strength;
  push.get(from).y += dy * strength;
  push.get(to).x -= dx * strength;
  push.get(to).y -= dy * strength;
}

// Stretched to fill [-1, 1] both ways; `above` says on which side of a node fewer lines leave it, for its label.
function fitted(nodes, near) {
  const all = [...nodes.values()];
  for (const axis of ["x", "y"]) {
    const low = Math.min(...all.map((node) => node[axis]));
    const span = Math.max(...all.map((node) => node[axis])) - low;
    for (const node of all) node[axis] = span > 0.01 ? (2 * (node[axis] - low)) / span - 1 : 0;
  }
  for (const node of all) {
    node.above = [...near.get(node.id)].reduce((sum, id) => sum + Math.sign(nodes.get(id).y - node.y), 0) > 0;
  }
  return nodes;
}

// Moves points that are closer than `apart` away from each other, within `width` × `height` less `margin`.
export function separate(points, apart, { width, height, margin }) {
  for (let round = 0; round < 60; round += 1) {
    for (let one = 0; one < points.length; one += 1) {
      for (let other = one + 1; other < points.length; other += 1) part(points[one], points[other], apart);
    }
    for (const point of points) {
      point.x = Math.min(Math.max(point.x, margin.x), width - margin.x);
      point.y = Math.min(Math.max(point.y, margin.y), height - margin.y);
    }
  }
  return points;
}

function part(one, other, apart) {
  const dx = one.x - other.x || 0.5;
  const dy = one.y - other.y || 0.5;
  const distance = Math.hypot(dx, dy);
  if (distance >= apart) return;
  const push = (apart - distance) / 2 / distance;
  one.x += dx * push;
  one.y += dy * push;
  other.x -= dx * push;
  other.y -= dy * push;
}
