import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMarkdown } from './index.ts'

const inlinesOf = (markdown: string) => {
  const [block] = parseMarkdown(markdown)
  return block?.type === 'paragraph' ? block.children : undefined
}
const text = (said: string) => ({ type: 'text', text: said }) as const

test('an image in a link is its description, and leads where the link leads', () => {
  assert.deepEqual(
    inlinesOf(
      '[![build](https://ci.example.org/badge.svg) of **![main](https://x.org/m)**](https://ci.example.org/1)',
    ),
    [
      {
        type: 'link',
        address: 'https://ci.example.org/1',
        children: [text('build of '), { type: 'strong', children: [text('main')] }],
      },
    ],
  )
})

test('a character reference cannot bring in a removed character', () => {
  assert.deepEqual(inlinesOf('a&#13;b&#x202E;c&#8;d&#10;e'), [text('abcd'), { type: 'break' }, text('e')])
})
