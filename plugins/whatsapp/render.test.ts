import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkup } from './fake-server/markup.ts'
import { renderReply } from './render.ts'

function written(markdown: string): string {
  return renderReply(markdown)
    .map(({ text }) => text)
    .join('\n\n')
}

/** Returns what a person reads, without the invisible joiners. */
function shown(markdown: string): string {
  return readMarkup(written(markdown)).replaceAll('\u2060', '')
}

test("WhatsApp's own marks are used, each within its line", () => {
  assert.equal(
    written('**bold** _it_ ~~gone~~ `code` ***both*** **two\nlines**'),
    '*bold* _it_ ~gone~ `code` _*both*_ *two*\n*lines*',
  )
})

test('a mark inside a word, which WhatsApp would show, is left out', () => {
  assert.equal(
    written('这是**重点**内容 a**b**c and a***b***c, (**fine**)'),
    '这是重点内容 abc and abc, (*fine*)',
  )
})

test('headings are bold, and bold text in them is not marked twice', () => {
  assert.equal(written('# All **good** now\n\n> ## *So* **there**'), '*All good now*\n\n> *_So_ there*')
})

test('lists have bullets, numbers or task boxes, and nested lists are indented', () => {
  assert.equal(
    written('3. one\n   - deeper\n4. two\n\n---\n\n- [x] done\n- [ ] open'),
    '3. one\n   - deeper\n4. two\n\n———\n\n- ☑ done\n- ☐ open',
  )
})

test('code is between three backticks on its own lines, and keeps its spaces in lists and quotes', () => {
  assert.equal(written('```ts\na\n  b\n```'), '```a\n  b```')
  assert.equal(written('- x\n  ```\n  a\n    b\n  ```'), '- x\n  ```a\n  b```')
  assert.equal(written('> x\n> ```\n> a\n>   b\n> ```\n> y'), '> x\n> \n> ```a\n  b```\n> \n> y')
})

test('backticks in code are shown', () => {
  assert.equal(shown('```` md\n```js\nx\n```\n````'), '```js\nx\n```')
  assert.equal(shown('In `` a`b ``.'), 'In a`b.')
})

test('a link is written as its label and its address, or the address alone', () => {
  assert.equal(
    written('[the log](https://example.org/log) <https://example.org> ![shot](https://example.org/a.png)'),
    'the log (https://example.org/log) https://example.org shot (https://example.org/a.png)',
  )
  assert.equal(
    written('[write](mailto:a_b@example.org), <a@example.org>, [call](tel:+15551234567)'),
    'write (a_b@example.org), a@example.org, call (+15551234567)',
  )
})

test('signs in an address are not read as marks', () => {
  const text = shown('https://example.org/_a_/*b*/~c~/d_e')
  assert.equal(decodeURIComponent(text), 'https://example.org/_a_/*b*/~c~/d_e')
  assert.ok(text.endsWith('d_e'), 'those within words are left as they are')
})

test('text that WhatsApp would take for markup is shown as it is', () => {
  const texts = [
    ...['\\*stars\\* and \\_lines\\_ and \\~waves\\~', '(\\*x\\*) "\\_y\\_" a\\*b\\*'],
    ...['a \\`tick\\` b \\`\\`\\`c\\`\\`\\`', '\\> said', '\\- item', '1\\. one'],
    ...['• dot', '**bold \\* star** and _a \\_ line_'],
  ]
  for (const markdown of texts) {
    const plain = markdown.replaceAll('\\', '').replaceAll('**', '').replace('_a _ line_', 'a _ line')
    assert.equal(shown(markdown), plain)
  }
})

test('text that WhatsApp leaves alone is left alone', () => {
  const text = 'snake_case_name, 2 * 3 * 4, a*b, 5 ~ 6, 3 > 2, x - y'
  assert.equal(written(text), text)
})

test('a narrow table is set in monospace, and a wide one becomes a list for each row', () => {
  assert.equal(
    written('| Service | Time |\n|---|--:|\n| api | **12** ms |'),
    '```Service |  Time\n--------|------\napi     | 12 ms```',
  )
  assert.equal(
    written('| **Service** | Status |\n|---|---|\n| api | all is well with it, and has been for weeks |'),
    '*Service: api*\n\n- Status: all is well with it, and has been for weeks',
  )
})

test('a part says whether it is the whole reply', () => {
  assert.deepEqual(
    renderReply('Hello').map(({ isWholeReply }) => isWholeReply),
    [true],
  )
  const parts = renderReply('word '.repeat(2000))
  assert.ok(parts.every(({ isWholeReply, text }) => !isWholeReply && Array.from(text).length <= 4000))
})
