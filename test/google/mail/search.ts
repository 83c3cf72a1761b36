/**
 * Reads the supported part of Gmail's search language, and refuses the rest, so that no search gets a random answer.
 */

import type { Mail } from './mailbox.ts'

type Test = (mail: Mail) => boolean

/** https://support.google.com/mail/answer/7190 and https://developers.google.com/workspace/gmail/api/guides/filtering */
export function compileSearch(q: string): Test | undefined {
  const tests: Test[] = []
  for (const word of q.split(/\s+/).filter(Boolean)) {
    const test = compileWord(word)
    if (test === undefined) return undefined
    tests.push(test)
  }
  return (mail) => tests.every((test) => test(mail))
}

function compileWord(word: string): Test | undefined {
  if (word.startsWith('-')) {
    const test = compileWord(word.slice(1))
    return test && ((mail) => !test(mail))
  }
  const [, operator, value = ''] = /^(\w+):(.+)$/.exec(word) ?? []
  switch (operator) {
    case 'after':
      return boundary(value, (at, limit) => at >= limit)
    case 'before':
      return boundary(value, (at, limit) => at < limit)
    case 'in':
    case 'is':
    case 'label': {
      const label = value.toUpperCase()
      if (operator === 'in' && label === 'ANYWHERE') return () => true
      return ({ labelIds }) => labelIds.some((id) => id.toUpperCase() === label)
    }
    default:
      return undefined
  }
}

/** In seconds since the Unix epoch. Google reads dates in the person's time zone; the fake has none. */
function boundary(value: string, holds: (at: number, limit: number) => boolean): Test | undefined {
  if (!/^\d{9,11}$/.test(value)) return undefined
  const limit = Number(value)
  return ({ at }) => holds(Math.floor(at / 1000), limit)
}
