import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMarkdown, readText } from '@reveille/kit/markdown'
import fc from 'fast-check'
import { visibleText } from './fake-server/index.ts'
import { rendererOf } from './render.ts'

const formats = ['markdown', 'mrkdwn'] as const

/** Pieces of each kind of markup, complete and incomplete. */
const pieces = [
  ...['**', '*', '_', '~~', '`', '``', '[', '](https://example.org/x)', '!', '<', '>', '&', '&lt;', '\\'],
  ...[
    'foo',
    'bar',
    'a_b',
    'x*y',
    '~/p',
    '@channel',
    '<!here>',
    '<@U12345>',
    '👩🏽‍🚀',
    'é',
    '(',
    ')',
    '.',
    ':',
    '"',
  ],
  ...[' ', ' ', ' ', '\n', '\n\n', '- ', '1. ', '> ', '# ', '---', '```\ncode <b> `x`\n```\n', '<b>', '</b>'],
  ...['ada@example.org', 'https://example.org/a_b'],
]

test('a person reads the text of the reply, in both markups', () => {
  for (const format of formats) {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), (some) => {
        const reply = some.join('')
        const shown = rendererOf(format)(reply).map(visibleText).join('\n')
        assert.equal(lettersOf(shown), lettersOf(readText(parseMarkdown(reply))))
      }),
      { seed: 20261121, numRuns: 200 },
    )
  }
})

/** Without the signs of lists, quotes and rules, which the text of a tree does not have. */
function lettersOf(text: string): string {
  return text.replaceAll(/^[ >]*(?:\d+\.|[•◦▪])(?= |$)/gm, '').replaceAll(/[\s>•◦▪—\u2060\u200b-]|\d+\./g, '')
}

test('a reply is written in the configured markup', () => {
  const reply = `# A **bold** title

Un**frigging**believable: _a_, ~~b~~ and \`c < d\`; ~/notes, 2 * 3 * 4, *[a page](https://example.org/?a=1&b=2)*.

- [x] done

| a | b |
|---|--:|
| 1 | 2 |`
  const [markdown, mrkdwn] = formats.map((format) => rendererOf(format)(reply).map(({ text }) => text))
  assert.deepEqual(markdown, [
    `# A **bold** title

Un**frigging**believable: _a_, ~~b~~ and \`c < d\`; ~/notes, 2 * 3 * 4, _[a page](https://example.org/?a=1&b=2)_.

- [x] done

| a | b |
| --- | --: |
| 1 | 2 |`,
  ])
  assert.deepEqual(mrkdwn, [
    `A *bold* title

Un\u200b*frigging*\u200bbelievable: _a_, ~b~ and \`c &lt; d\`; ~/notes, 2 * 3 * 4, _<https://example.org/?a=1&amp;b=2|a page>_.

☑ done

\`\`\`
a   |   b
----|----
1   |   2
\`\`\``,
  ])
})

test('code keeps its brackets, except those of mentions', () => {
  const [part] = rendererOf('markdown')('```html\n<!DOCTYPE html><b>\n<!channel> <@U012AB3CD>\n```')
  assert.equal(part?.text, '```html\n<!DOCTYPE html><b>\n<\u2060!channel> <\u2060@U012AB3CD>\n```')
})
