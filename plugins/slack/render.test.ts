import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rendererOf } from './render.ts'

const formats = ['markdown', 'mrkdwn'] as const

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
