/** Owns asking once: whoever asks for the same path again, or meanwhile, has the first answer. */

export function askedOnce<Answer>(
  known: Map<string, Promise<Answer>>,
  ask: (path: string) => Promise<Answer>,
): (path: string) => Promise<Answer> {
  return (path) => {
    const answer = known.get(path) ?? ask(path)
    known.set(path, answer)
    return answer
  }
}
