/** What the test that runs has to take away at its end; in whichever process, and how many files share that. */
const cleanUps: (() => unknown)[] = [];

/** Has it done at the end of the test, before what was asked for earlier; what is asked for before all tests ends with the first. */
export function afterTest(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp);
}

export async function cleanUp(): Promise<void> {
  for (const clean of cleanUps.splice(0).reverse()) await clean();
}
