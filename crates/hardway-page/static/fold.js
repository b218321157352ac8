// What was known at a moment. Each moment carries the rows that it changes, as hardway's own fold has them; folding is
// putting them in their places.

// States are kept this often, so that any moment is at most that many steps away from one.
const KEPT_EVERY = 200;

export class Fold {
  constructor(beginning) {
    this.beginning = new Map(Object.entries(beginning).map(([name, rows]) => [name, new Map(Object.entries(rows))]));
    this.clear();
  }

  clear() {
    this.moments = [];
    this.times = [];
    this.kept = [copied(this.beginning)];
    this.last = copied(this.beginning);
  }

  append(moments) {
    for (const moment of moments) {
      this.moments.push(moment);
      // Clocks of several writers may differ; the slider only ever goes forward.
      const before = this.times.length > 0 ? this.times[this.times.length - 1] : -Infinity;
      this.times.push(Math.max(before, Date.parse(moment.time)));
      apply(this.last, moment);
      if (this.moments.length % KEPT_EVERY === 0) this.kept.push(copied(this.last));
    }
  }

  get length() {
    return this.moments.length;
  }

  // After the first `count` moments.
  at(count) {
    if (count >= this.moments.length) return this.last;
    const place = Math.floor(count / KEPT_EVERY);
    const state = copied(this.kept[place]);
    for (let next = place * KEPT_EVERY; next < count; next += 1) apply(state, this.moments[next]);
    return state;
  }

  // How many moments there were by then.
  countAt(time) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// Rows are never changed, only replaced: a copy of the maps is a copy of everything.
function copied(state) {
  return new Map([...state].map(([name, rows]) => [name, new Map(rows)]));
}

function apply(state, moment) {
  for (const [name, rows] of Object.entries(moment.set ?? {})) {
    if (!state.has(name)) state.set(name, new Map());
    const known = state.get(name);
    for (const [key, row] of Object.entries(rows)) {
      if (row === null) known.delete(key);
      else known.set(key, row);
    }
  }
  // Whatever was waited for: once a phase begins or ends, it is another wait.
  if (moment.kind.startsWith("phase-") || moment.kind === "install-interrupted") state.delete("waiting");
}

export function rows(state, name) {
  return [...(state.get(name) ?? new Map()).values()];
}

// Begun, and nobody is at work any more: cut off. Of the past only that it was begun is known.
export function phaseState(row, isNow, isAtWork) {
  if (row.state === "running" && isNow && !isAtWork) return "interrupted";
  return row.state;
}
