// Where what is shown comes from: the server, or this very file.

// The token stands behind the #, which browsers send to nobody; from here it goes into a header.
const token = new URLSearchParams(globalThis.location.hash.slice(1)).get("token");

function headers() {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export function recorded(name) {
  const block = document.getElementById(`recorded-${name}`);
  return block === null ? null : JSON.parse(block.textContent);
}

export async function fetched(name) {
  const response = await fetch(`${name}.json`, { headers: headers(), cache: "no-store" });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// Server-sent events, read by hand: the browser's own reader sends no header of ours. Goes on when the server comes back.
export async function follow(heard) {
  let pause = 500;
  for (;;) {
    try {
      const response = await fetch("moments", { headers: headers(), cache: "no-store" });
      if (response.status === 403) return heard("refused", await response.text());
      pause = 500;
      await read(response.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
    } catch {
      // The server is gone, or its computer.
    }
    heard("lost", null);
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(10000, pause * 2);
  }
}

async function read(reader, heard) {
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (name) heard(name, JSON.parse(data));
    }
  }
}
