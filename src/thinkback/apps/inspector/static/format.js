// Numbers and times as people read them; exact values stay in titles and <data>.

const DAY = 86_400_000;

export function score(value) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 0.0001 || size >= 1e6) ? value.toExponential(3) : value.toFixed(4);
}

export function delta(value) {
  const sign = value < 0 ? "−" : "+";
  const size = Math.abs(value);
  return sign + (size !== 0 && (size < 0.000001 || size >= 1e6) ? size.toExponential(3) : size.toFixed(6));
}

export function whole(value) {
  return Number(value).toLocaleString("en");
}

export function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let step = 0;
  while (value >= 1000 && step < units.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${step && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}

export function milliseconds(us) {
  return us < 10_000 ? `${(us / 1000).toFixed(1)} ms` : `${Math.round(us / 1000)} ms`;
}

// Days are those of UTC, as they are in the store.
export function day(iso) {
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
}

export function minute(iso) {
  return `${day(iso)}, ${iso.slice(11, 16)}`;
}

export function gap(fromIso, toIso) {
  const days = Math.round((Date.parse(toIso) - Date.parse(fromIso)) / DAY);
  if (days < 2) return null;
  if (days < 14) return `${days} days`;
  if (days < 70) return `${Math.round(days / 7)} weeks`;
  return days < 730 ? `${Math.round(days / 30.4)} months` : `${Math.round(days / 365.25)} years`;
}

export function many(count, one, more = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : more}`;
}

// The date of a memory is when it became true, else when it was created, as in the engine.
export function dateOf(memory) {
  return memory.valid_from ?? memory.created_at;
}

// A reflection's text is JSON for programs; people read its essence.
export function reading(memory) {
  return memory.kind === "reflection" && memory.essence ? memory.essence : memory.text;
}

export function short(text, most) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}
