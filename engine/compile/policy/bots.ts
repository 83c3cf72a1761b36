/** Compiles the names of a policy's `bots` to a test of actors. */

/** Tests in linear time whether a name is listed. Case is ignored, and `*` stands for any text, the empty one included. */
export function compileBots(bots: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>()
  const patterns: Pattern[] = []
  for (const bot of bots) {
    const [start = '', ...others] = folded(bot).split('*')
    const end = others.pop()
    if (end === undefined) exact.add(start)
    else patterns.push({ start, middle: others.filter((piece) => piece !== ''), end })
  }
  return (name) => {
    const text = folded(name)
    return exact.has(text) || patterns.some((pattern) => fits(text, pattern))
  }
}

/** The texts before, between and after the stars. */
interface Pattern {
  readonly start: string
  readonly middle: readonly string[]
  readonly end: string
}

/** Takes each piece at its first place after the one before. If that does not fit, no other place does. */
function fits(text: string, { start, middle, end }: Pattern): boolean {
  if (text.length < start.length + end.length || !text.startsWith(start) || !text.endsWith(end)) return false
  const last = text.length - end.length
  let from = start.length
  for (const piece of middle) {
    const found = text.indexOf(piece, from)
    if (found === -1 || found + piece.length > last) return false
    from = found + piece.length
  }
  return true
}

function folded(name: string): string {
  return name.trim().toLowerCase()
}
