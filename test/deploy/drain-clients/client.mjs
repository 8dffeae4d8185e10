// 64 callers that ask one server again and again over kept connections (`fetch` is undici), until it takes no new ones.
// Writes "asked" once all have an answer, and at the end a line of JSON: requests that got an answer, and those that got none.
const CLIENTS = 64;
let answered = 0;
let started = 0;
const lost = [];

async function keepAsking() {
  for (let first = true; ; first = false) {
    try {
      const answer = await fetch(process.argv[2]);
      const text = await answer.text();
      if (answer.status !== 200 || text !== '"ok"') throw new Error(`${answer.status} ${text}`);
      answered++;
    } catch (error) {
      if (error.cause?.syscall !== 'connect') lost.push(`${error.message} ${error.cause?.message ?? ''}`);
      return;
    }
    if (first && ++started === CLIENTS) console.log('asked');
  }
}

await Promise.all(Array.from({ length: CLIENTS }, keepAsking));
console.log(JSON.stringify({ answered, lost }));
