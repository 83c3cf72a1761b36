import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileBots } from './bots.ts'

test('a name matches as a whole, whatever its case and spaces around it, and a star stands for any text', () => {
  const cases: [pattern: string, listed: string[], others: string[]][] = [
    ['dependabot[bot]', ['dependabot[bot]', 'Dependabot[Bot]'], ['dependabot', 'b', '']],
    [' Renovate ', ['renovate', ' RENOVATE '], ['renovate2', 'xrenovate', '']],
    ['*[bot]', ['a[bot]', '[bot]', 'a[bot][BOT]'], ['a[bot]x', 'bot', 'b']],
    ['ci-*', ['ci-', 'ci-7', 'CI-ci-'], ['ci', 'aci-7']],
    ['a*b*a', ['aba', 'axbya', 'abba'], ['ab', 'aa', 'a', 'axa']],
    ['ab*ba', ['abba', 'abxba'], ['aba', 'ab']],
    ['*a**a*', ['aa', 'xaya'], ['a', '']],
    ['*', ['', 'anyone'], []],
  ]
  for (const [pattern, listed, others] of cases) {
    const isListed = compileBots([pattern])
    for (const name of listed) assert.ok(isListed(name), `${pattern} ${name}`)
    for (const name of others) assert.ok(!isListed(name), `${pattern} ${name}`)
  }
})

test('stars mean the same as in a regular expression', () => {
  let seed = 7
  const pick = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const word = (letters: string, most: number) =>
    Array.from({ length: pick(most + 1) }, () => letters[pick(letters.length)]).join('')
  for (let round = 0; round < 5000; round++) {
    const [pattern, name] = [`${word('ab*', 6)}*`, word('ab', 8)]
    const meant = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
    assert.equal(compileBots([pattern])(name), meant, `${pattern} ${name}`)
  }
})

test('a name that nearly matches a pattern with many stars takes no time', () => {
  const isListed = compileBots([`${'*a'.repeat(10_000)}*b`])
  const name = 'a'.repeat(100_000)
  const start = process.cpuUsage().user
  assert.ok(!isListed(name))
  assert.ok((process.cpuUsage().user - start) / 1000 < 500)
})
