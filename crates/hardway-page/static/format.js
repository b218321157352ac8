// Times and lengths of time, as people read them.

export function clock(time) {
  const date = new Date(time);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

export function dateAndClock(time) {
  return `${new Date(time).toISOString().slice(0, 10)} ${clock(time)} UTC`;
}

// The same words as on the terminal: 4 s, 3 min 20 s, 1 h 5 min.
export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function plural(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
