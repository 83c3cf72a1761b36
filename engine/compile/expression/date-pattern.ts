/** Reads the patterns of the helper `date`. */

export const dateTokens = /YYYY|MM|DD|HH|mm|ss|Z/g

const knownFields =
  /YYYY(?!Y)|(?<!M)MM(?!M)|(?<!D)DD(?![Do])|(?<!H)HH(?!H)|(?<!m)mm(?!m)|(?<!s)ss(?!s)|(?<!Z)Z(?!Z)/g

/** Minutes are next to hours or seconds, and months are not. */
const confused = /HH\W?MM|MM\W?ss|(?<!HH\W?)mm(?!\W?ss)/

/** Returns why a pattern is refused. */
export function patternProblem(
  pattern: string,
): { readonly message: string; readonly hint: string } | undefined {
  const hint = 'Write "YYYY-MM-DD HH:mm"; words are written outside of the helper.'
  const rest = pattern.replace(knownFields, '').replace(/(?<![A-Za-z])T(?![A-Za-z])/, '')
  const foreign = /%-?[A-Za-z]|[A-Za-z]+/.exec(rest)?.[0]
  if (foreign !== undefined)
    return { message: `"${foreign}" is not part of a pattern, which knows YYYY MM DD HH mm ss Z`, hint }
  if (pattern.replaceAll('Z', '').search(dateTokens) === -1)
    return { message: 'a pattern is made of YYYY MM DD HH mm ss Z', hint }
  return confused.test(pattern) ? { message: 'MM is the month, and mm is the minute', hint } : undefined
}
