/** Owns asking for many things at once, but not for all of them: files are many, and threads that read them few. */

const atOnce = 16

/** In the order of what was asked for. */
export async function inParallel<One, Made>(
  all: readonly One[],
  make: (one: One) => Promise<Made>,
): Promise<Made[]> {
  const made = new Array<Made>(all.length)
  const left = all.entries()
  const work = async (): Promise<void> => {
    for (const [index, one] of left) made[index] = await make(one)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, work))
  return made
}
