/** Tests what a person sees when a reply has arrived. */

import assert from 'node:assert/strict'
import { lengthIn } from '../measure.ts'
import type { OpenVendor, VendorTests } from './opened-vendor.ts'

export const arrivalTests: VendorTests = {
  async 'shows a plain text unchanged'(used) {
    const text =
      'Plain: 100 % of ü, 漢字, 👩🏽‍🚀 & “quotes”, a*b, snake_case_word, 3 > 2, C:\\new, ~5, $x, [sic], {y} | z.'
    await used.send(text)
    assert.deepEqual(seen(used), [text])
  },

  async 'stores each part as the text that a person reads'(used, options) {
    const text = `# Report\n\n${proseOver(used)}\n\n- one\n- two\n\n> said\n\nLast *word*.`
    const parts = used.channel.render(text)
    await used.send(text)
    assert.deepEqual(
      seen(used),
      parts.map((part) => readable(options.visibleText(part))),
    )
  },

  async 'stores a long text in messages that together make up the text'(used) {
    const text = proseOver(used)
    await used.send(text)
    assert.ok(used.vendor.messages.length > 1, 'a text over the limit is cut')
    assert.deepEqual(seen(used).flatMap(wordsOf), wordsOf(text))
  },

  async 'keeps code as code in every message that it is cut into'(used) {
    const line = 'const **stars** = _lines_ * `ticks` # 1 <b>'
    const count = Math.ceil((limitOf(used) * 4) / 3 / measureOf(used)(`${line}\n`))
    await used.send(`~~~ts\n${`${line}\n`.repeat(count)}~~~`)
    const messages = seen(used)
    assert.ok(messages.length > 1, 'code over the limit is cut')
    const lines = messages.flatMap((text) => text.split('\n').filter((each) => each.trim() !== ''))
    assert.deepEqual(lines, Array(count).fill(line), 'what is read is the code, line for line')
  },

  async 'shows formatting instead of its marks'(used) {
    await used.send('## Title\n\nA **bold** word, an *oblique* one and a [page](https://example.org/page).')
    const text = seen(used).join('\n')
    for (const word of ['Title', 'bold', 'oblique', 'page'])
      assert.ok(text.includes(word), `it holds ${word}`)
    for (const mark of ['*', '##', '](']) assert.ok(!text.includes(mark), `no ${mark} is shown: ${text}`)
  },

  async 'writes into the thread of the address'(used, _options, t) {
    const { vendor, channel } = used
    const { threadTo } = vendor
    if (threadTo === undefined) return t.skip('the vendor has no threads')
    assert.notEqual(
      channel.target(threadTo).key,
      channel.target(vendor.to).key,
      'a thread is a place of its own',
    )
    await used.send('In the thread.', { to: threadTo })
    assert.equal(vendor.messages.length, 1)
    const thread = /[^:;=]+$/.exec(threadTo)?.[0] ?? ''
    assert.ok(JSON.stringify(vendor.messages[0]).includes(thread), `the message is stored in ${thread}`)
  },

  async 'mentions no one, whatever the text says'(used, _options, t) {
    for (const [index, text] of hostileTexts.entries())
      await used.send(text, { delivery: `hostile-${index}` })
    if (used.vendor.pings === undefined) return t.skip('the vendor has no mentions')
    assert.deepEqual(used.vendor.pings, [])
    for (const word of ['everyone', 'channel', 'Ada']) {
      assert.ok(
        seen(used).some((each) => each.includes(word)),
        `it still says ${word}`,
      )
    }
  },
}

/** Mentions of various surfaces: plain, inside other markup, escaped and as entities. */
const calls = [
  '@everyone @here @channel @all @ada @room',
  '<!channel> <!here> <!everyone> <!here|here> <!subteam^S012AB3CD> <@U012AB3CD> <@W012AB3CD|ada>',
  '<@123456789012345678> <@!123456789012345678> <@&123456789012345678> <#123456789012345678>',
  '<at>Ada</at> <at id="0">Ada</at> <a href="tg://user?id=123456789">Ada</a>',
  '[Ada](tg://user?id=123456789) [Ada](slack://user?id=U012AB3CD) [@everyone](https://example.org/@everyone)',
  '&lt;!channel&gt; &#60;@U012AB3CD&#62; &#64;everyone \\@everyone \\<!channel>',
]
const hostileTexts = calls.map((call) =>
  [
    call,
    `**${call}** *${call}*`,
    `# ${call}`,
    `> ${call}`,
    `- ${call}`,
    `| a | b |\n|---|---|\n| ${call.replaceAll('|', '\\|')} | x |`,
    `\`${call}\``,
    `\`\`\`\n${call}\n\`\`\`\n${call}`,
    `${call}\n\`\`\``,
  ].join('\n\n'),
)

function seen({ vendor }: OpenVendor): string[] {
  return vendor.messages.map(({ text }) => readable(text))
}

/** Removes the invisible characters that keep a mention from being one. */
function readable(text: string): string {
  return text.replaceAll(/[\u2060\u200b]/g, '').trim()
}

function measureOf({ channel }: OpenVendor) {
  return lengthIn(channel.limits.unit)
}

function limitOf({ channel }: OpenVendor): number {
  return channel.limits.part
}

function proseOver(used: OpenVendor): string {
  const measure = measureOf(used)
  const lines: string[] = []
  for (let size = 0; size <= limitOf(used); size += measure(lines.at(-1) ?? '')) {
    lines.push(`Line ${lines.length + 1} says a little more. Then it stops.`)
  }
  return lines.join('\n\n')
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
