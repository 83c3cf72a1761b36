import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstSentence, rewritePage, titleOf } from './markdown.ts'

const targets = {
  pages: new Map([
    ['docs/trust.md', 'trust.md'],
    ['docs/reference/api.md', 'reference/api.md'],
    ['engine/verify/README.md', 'source/engine/verify.md'],
  ]),
  files: new Map([['docs/alerts/rules.yml', 'alerts/rules.yml']]),
}

test('links lead to the same pages on the site, with their anchors', () => {
  const text =
    '[a](reference/api.md#routes) [b](../engine/verify/README.md#the-table) [c](alerts/rules.yml) [d](#here)'
  assert.equal(
    rewritePage('docs/trust.md', text, targets),
    '[a](./reference/api.md#routes) [b](./source/engine/verify.md#the-table) [c](./alerts/rules.yml) [d](#here)',
  )
  assert.equal(rewritePage('docs/reference/api.md', '[a](../trust.md)', targets), '[a](../trust.md)')
})

test('a link to a file that is not on the site becomes its text, and links to other sites stay', () => {
  assert.equal(
    rewritePage(
      'docs/trust.md',
      '[`kit`](../plugins/kit/channel.ts), [x](https://example.com/a.md)',
      targets,
    ),
    '`kit`, [x](https://example.com/a.md)',
  )
})

test('comments are left out, and code blocks stay as they are', () => {
  const block = '```\n<!-- kept --> [a](../x.ts)\n```\n'
  assert.equal(rewritePage('docs/trust.md', `<!-- gone -->\nText.\n\n${block}`, targets), `Text.\n\n${block}`)
})

test('the list of pages has their titles and first sentences as plain text', () => {
  const page = '# Runner `ai`\n\n```sh\nnpm start\n```\n\nAsks a [model](agents.md), through\nan SDK. More.\n'
  assert.equal(titleOf(page), 'Runner ai')
  assert.equal(firstSentence(page), 'Asks a model, through an SDK.')
})
