import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkup } from './fake-server/markup.ts'
import { renderReply } from './render.ts'

/** Returns the reply as Discord's clients show it. */
function read(markdown: string) {
  const parts = renderReply(markdown)
  assert.equal(parts.length, 1)
  return readMarkup(parts[0]?.text ?? '')
}

function written(markdown: string): string {
  return renderReply(markdown)
    .map(({ text }) => text)
    .join('\n\n')
}

test('a small table is set in monospace', () => {
  assert.equal(
    written('| Service | Time |\n|---|--:|\n| api | 12 ms |\n| worker | **1,200 ms** |'),
    '```\nService |     Time\n--------|---------\napi     |    12 ms\nworker  | 1,200 ms\n```',
  )
})

test('a wide table becomes a list for each row', () => {
  const wide = 'w'.repeat(70)
  assert.equal(written(`| Name | Note |\n|---|---|\n| one | ${wide} |`), `**Name: one**\n\n- Note: ${wide}`)
})

test('such a list is escaped like all other text', () => {
  const wide = 'w'.repeat(70)
  assert.equal(
    read(`| Name | Note |\n|---|---|\n| \\漢 | ${wide} [mail](mailto:a@example.org) |`).text,
    `Name: \\漢\n\n• Note: ${wide} mail (a@example.org)`,
  )
})

test('nothing of a reply is shown as a mention, and all of it stays readable', () => {
  for (const call of [
    '@everyone',
    '@here',
    '<@1>',
    '<@!1>',
    '<@&1>',
    '<#1>',
    '<:ok:123>',
    '</run:1>',
    '<t:1>',
  ]) {
    for (const markdown of [
      call,
      `**${call}**`,
      `[${call}](https://example.org)`,
      `x${call}y`,
      `- ${call}`,
    ]) {
      const { text, mentions } = read(markdown)
      assert.deepEqual(mentions, [], markdown)
      assert.ok(text.replaceAll('\u200b', '').includes(call), `${call} in ${text}`)
    }
  }
})

test('a link whose label looks like another address shows where it leads', () => {
  const { text, links } = read('[https://good.example](https://evil.example/x) [docs](https://example.org/a)')
  assert.ok(text.includes('https://evil.example/x'))
  assert.deepEqual(links.at(-1), { label: 'docs', address: 'https://example.org/a' })
  for (const { label, address } of links.slice(0, -1)) assert.equal(label, address)
})

test('only web pages are linked behind a label; other addresses are written out', () => {
  const { text, links } = read(
    '[write](mailto:a_b@example.org), [call](tel:+15551234567), ![shot](https://e.org/a(1).png)',
  )
  assert.equal(text, 'write (a_b@example.org), call (+15551234567), shot')
  assert.deepEqual(links, [{ label: 'shot', address: 'https://e.org/a%281%29.png' }])
})

test('text that Discord would take for markup is shown as it is', () => {
  const texts = [
    ...['||secret||', '-# small', '\\> said', '\\# Title', 'a \\`tick\\` and \\`another\\`'],
    ...['\\*\\*x\\*\\*', '\\_\\_init\\_\\_', '\\~\\~x\\~\\~', '\\- item', '\\`\\`\\`x'],
  ]
  for (const markdown of texts) {
    const shown = read(`${markdown}\n\n\`code\``).text.replaceAll('\u200b', '')
    assert.equal(shown, `${markdown.replaceAll('\\', '')}\n\ncode`)
  }
})

test('a backslash is shown, whatever follows it', () => {
  assert.equal(read('C:\\new \\漢字 \\שלום \\\\x').text, 'C:\\new \\漢字 \\שלום \\x')
})

test('italic text may hold underscores', () => {
  assert.equal(
    read('*a snake_case b* and *see <https://example.org/_x_>*').text,
    'a snake_case b and see https://example.org/_x_',
  )
})

test('an address is not used as the label of its own link', () => {
  const address = 'https://example.org/~ada/@everyone'
  assert.deepEqual(read(address).links, [{ label: address, address }])
  // The host is the same, so that the label misleads no one and stays.
  const [link] = read(`[${address}](${address}?a=1)`).links
  assert.deepEqual([link?.label.replace('\u200b', ''), link?.address], [address, `${address}?a=1`])
  const evil = 'https://evil.example/'
  assert.deepEqual(read(`[${address}](${evil})`).links, [{ label: evil, address: evil }])
})

test('code keeps its backticks, whatever fences it had', () => {
  const { text } = read('````md title\n```js\nx\n```\n````\n\nIn ``` a`b``c ```')
  assert.equal(text.replaceAll('\u200b', ''), '```js\nx\n```\n\nIn a`b``c')
})

test('headings have three sizes and are bold below that', () => {
  assert.equal(written('# a\n\n### b\n\n#### c **d**'), '# a\n\n### b\n\n**c d**')
})

test('nested quotes become one quote with every line marked', () => {
  assert.equal(written('> one\n>\n> > two\n> ```\n> > x\n> ```'), '> one\n> \n> two\n> \n> ```\n> > x\n> ```')
})
