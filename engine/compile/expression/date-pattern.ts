/** Reads the patterns of the helper `date`, and recognises those of other tools. */

export const dateTokens = /YYYY|MM|DD|HH|mm|ss|Z/g

/** The tokens of other tools, with ours. Blank where there is none, as for names of days and fractions of a second. */
const foreignTokens: readonly (readonly [find: RegExp, token: string])[] = [
  [/^[yYu]+$/, 'YYYY'],
  [/^[ML]+$/, 'MM'],
  [/^[dD]{1,2}o?$/, 'DD'],
  [/^[hHkK]+$/, 'HH'],
  [/^m+$/, 'mm'],
  [/^s+$/, 'ss'],
  [/^[zZxXO]+$/, 'Z'],
  [/^(?:[dD]{3,}|[EeaApBSf]+)$/, ''],
]

/** The directives of strftime, as Python, Ruby and Liquid have them. */
const percentTokens: Readonly<Record<string, string>> = {
  ...{
    Y: 'YYYY',
    y: 'YYYY',
    m: 'MM',
    b: 'MM',
    B: 'MM',
    d: 'DD',
    e: 'DD',
    H: 'HH',
    I: 'HH',
    M: 'mm',
    S: 'ss',
    z: 'Z',
  },
  ...{ F: 'YYYY-MM-DD', T: 'HH:mm:ss', R: 'HH:mm' },
}

export interface PatternProblem {
  readonly message: string
  readonly hint: string
}

const knownFields =
  /YYYY(?!Y)|(?<!M)MM(?!M)|(?<!D)DD(?![Do])|(?<!H)HH(?!H)|(?<!m)mm(?!m)|(?<!s)ss(?!s)|(?<!Z)Z(?!Z)/g
const names = 'YYYY MM DD HH mm ss Z'

/** Returns why a pattern is refused, with the pattern that was probably meant. */
export function patternProblem(pattern: string): PatternProblem | undefined {
  const rest = pattern.replace(knownFields, '').replace(/(?<![A-Za-z])T(?![A-Za-z])/, '')
  const foreign = /%-?[A-Za-z]|[A-Za-z]+/.exec(rest)?.[0]
  const meant = meantPattern(pattern)
  if (foreign !== undefined) {
    const hint =
      meant === undefined
        ? 'Write words outside of the helper: {{date at "YYYY-MM-DD"}} at {{date at "HH:mm"}}.'
        : `Write "${meant}".`
    return { message: `"${foreign}" is not part of a pattern, which knows ${names}`, hint }
  }
  if (pattern.replaceAll('Z', '').search(dateTokens) === -1)
    return { message: `a pattern is made of ${names}`, hint: 'Write "YYYY-MM-DD HH:mm".' }
  if (meant === undefined || meant === pattern) return undefined
  return { message: 'MM is the month, and mm is the minute', hint: `Write "${meant}".` }
}

/** Translates a pattern of another tool. Returns undefined for one that holds words. */
export function meantPattern(pattern: string): string | undefined {
  const translated = pattern.includes('%')
    ? pattern.replace(/%-?([A-Za-z])/g, (_all, letter: string) => percentTokens[letter] ?? '')
    : pattern.replace(/([A-Za-z])\1*o?/g, (run) =>
        run === 'T' ? run : (foreignTokens.find(([find]) => find.test(run))?.[1] ?? run),
      )
  const meant = asMonthsAndMinutes(translated)
    .replace(/(?<=ss)[.,](?=Z|$)/, '')
    .trim()
  const isMade = !/[A-Za-z]/.test(meant.replace(knownFields, '').replace('T', ''))
  return isMade && meant.search(dateTokens) !== -1 ? meant : undefined
}

/** Minutes are next to hours or seconds, and months are not. */
export function asMonthsAndMinutes(pattern: string): string {
  return pattern.replace(/(?<=HH\W?)MM|MM(?=\W?ss)/g, 'mm').replace(/(?<!HH\W?)mm(?!\W?ss)/g, 'MM')
}
