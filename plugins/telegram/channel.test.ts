import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { openBed } from '@reveille/kit/fake-server'
import { createTelegramChannel, type TelegramConfig } from './channel.ts'
import { badRequest, chats, type FakeTelegramOptions, openVendor, visibleText } from './fake-server/index.ts'

vendorConformance({
  name: 'the channel telegram conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  fences: false,
  places: [
    ['123456789', ' 123456789 ', 'telegram:123456789', 'tg:123456789'],
    ['-1001234567890', '-1001234567890:topic:1'],
    ['-1001234567890:topic:7', '-1001234567890:7', 'telegram:group:-1001234567890:topic:7'],
    ['-1001234567890:topic:8'],
    ['@reveille_news', '@Reveille_News', 'telegram:@reveille_news'],
  ],
  badAddresses: [
    '0',
    '-0',
    '12a',
    '@1abc',
    '@ab',
    'reveille_news',
    '123:topic:x',
    '123:topic:',
    '123:',
    'telegram:',
    'telegram:telegram:1',
    '99999999999999999',
  ],
})

async function open(given: Partial<TelegramConfig> = {}, options?: FakeTelegramOptions) {
  const vendor = await openVendor(options)
  const warnings: unknown[] = []
  const log = {
    info() {},
    error() {},
    warn: (event: string, facts?: object) => void warnings.push([event, facts]),
  }
  const defaults = { format: 'html', linkPreviews: false } as const
  const config = { ...defaults, ...(vendor.config as { botToken: string; baseUrl: string }), ...given }
  const channel = createTelegramChannel({ config, fetch, log, now: () => 0 })
  const sent = () => vendor.requests.map(({ json }) => json as Record<string, unknown>)
  return { ...openBed(vendor, channel), warnings, sent }
}

/** Returns the text of each mark, by the entities that Telegram made. */
async function shown(markdown: string) {
  await using bed = await open()
  await bed.send(markdown)
  const [message] = bed.vendor.messages
  assert.ok(message !== undefined && bed.warnings.length === 0)
  const entities = message['entities'] as { type: string; offset: number; length: number }[]
  return {
    text: message.text,
    entities: entities.map(({ offset, length, ...rest }) => ({
      ...rest,
      of: message.text.slice(offset, offset + length),
    })),
  }
}

test('Markdown becomes the entities that Telegram has for it', async () => {
  const { entities } = await shown(
    '# Title\n\n**bold** *oblique* ~~gone~~ `x < y` [page](https://example.org/?a=1&b="2")\n\n```ts\nif (a < b) {}\n```\n\n> said',
  )
  assert.deepEqual(entities, [
    { type: 'bold', of: 'Title' },
    { type: 'bold', of: 'bold' },
    { type: 'italic', of: 'oblique' },
    { type: 'strikethrough', of: 'gone' },
    { type: 'code', of: 'x < y' },
    { type: 'text_link', url: 'https://example.org/?a=1&b=%222%22', of: 'page' },
    { type: 'pre', language: 'ts', of: 'if (a < b) {}' },
    { type: 'blockquote', of: 'said' },
  ])
})

test('lists are bullets that are indented, and code in them keeps its own spaces', async () => {
  const { text } = await shown(
    '1. one\n   - deeper\n     - deepest\n2. two\n\n   ```\n   a\n     b\n   ```\n\n- [x] done\n- [ ] open',
  )
  assert.equal(text, '1. one\n   ◦ deeper\n      ▪ deepest\n2. two\na\n  b\n\n☑ done\n☐ open')
})

test('a table that fits a phone is aligned and shows its addresses; a wider one becomes a list with links', async () => {
  const small = await shown('| PR | Link |\n|---|---|\n| @ada | [x](https://a.example/1) |')
  assert.equal(small.text, 'PR   | Link\n-----|------------------------\n@ada | x (https://a.example/1)')
  const wide = await shown(`| PR | Link |\n|---|---|\n| 1 | [${'w'.repeat(40)}](https://a.example/1) |`)
  assert.equal(wide.text, `PR: 1\n\n• Link: ${'w'.repeat(40)}`)
  assert.equal(wide.entities.at(-1)?.type, 'text_link')
})

test('a block in a list begins at the start of a line', async () => {
  const { text, entities } = await shown('- one\n  > said\n  > more\n- ```\n  a\n  ```\n- > > deep')
  assert.equal(text, '• one\n\nsaid\nmore\n\n•\na\n\n•\n> deep')
  assert.deepEqual(entities, [
    { type: 'blockquote', of: 'said\nmore' },
    { type: 'pre', of: 'a' },
    { type: 'blockquote', of: '> deep' },
  ])
})

test('a link that Telegram would drop shows its address', async () => {
  const { text, entities } = await shown('[here](http://localhost:8080/x) and [mail](mailto:ada@example.org)')
  assert.equal(text, 'here (http://localhost:8080/x) and mail (ada@example.org)')
  assert.deepEqual(entities, [{ type: 'url', of: 'http://localhost:8080/x' }])
})

test('names mention no one, and addresses that hold an @ stay whole', async () => {
  const { text, entities } = await shown(
    '@ada ada@example.org https://example.org/@ada `@ada` tg://user?id=1',
  )
  assert.equal(text, '@\u2060ada ada@example.org https://example.org/@ada @ada tg:\u2060//user?id=1')
  assert.deepEqual(
    entities.map(({ type }) => type),
    ['text_link', 'code'],
  )
})

test('neither the HTML nor its visible text exceeds 4096 characters, whatever has to be escaped', async () => {
  await using bed = await open()
  await bed.send(`\`\`\`html\n${'<p class="a">&amp;</p>\n'.repeat(600)}\`\`\``)
  assert.ok(bed.vendor.messages.length > 1)
  for (const { text } of bed.sent()) assert.ok(String(text).length <= 4096)
})

test('no link is lost because a message has more entities than Telegram keeps', async () => {
  await using bed = await open()
  const links = Array.from({ length: 250 }, (_, index) => `https://example.org/${index}`)
  await bed.send(links.map((link, index) => `[${index}](${link})`).join(' '))
  const urls = bed.vendor.messages.flatMap(({ entities }) =>
    (entities as { url: string }[]).map(({ url }) => url),
  )
  assert.deepEqual(urls, links)
})

test('markup that Telegram cannot parse is sent again as plain text without mentions', async () => {
  await using bed = await open()
  bed.vendor.script({
    kind: 'answer',
    answer: badRequest('can\'t parse entities: Unsupported start tag "x"'),
  })
  await bed.send('**Hello** `@ada`')
  assert.deepEqual(
    bed.vendor.messages.map(({ text }) => text),
    ['Hello @\u2060ada'],
  )
  assert.deepEqual(bed.vendor.pings, [])
  assert.deepEqual(bed.warnings, [['telegram-markup-refused', { key: 'd:1', sentAs: 'plain text' }]])
})

test('a message that Telegram cannot parse as plain text either fails for good', async () => {
  await using bed = await open()
  bed.vendor.always({ kind: 'answer', answer: badRequest("can't parse entities: whatever") })
  const error = await bed.failure()
  assert.deepEqual([error.code, error.retryable, bed.vendor.requests.length], ['bad-request', false, 2])
})

test('a group that became a supergroup is written to at its new number, and a warning is logged once', async () => {
  await using bed = await open()
  await bed.send('One', String(chats.moved))
  await bed.send('Two', String(chats.moved))
  assert.deepEqual(
    bed.vendor.messages.map(({ to }) => Number(to)),
    [chats.movedTo, chats.movedTo],
  )
  assert.equal(bed.vendor.requests.length, 3)
  assert.deepEqual(bed.warnings, [
    [
      'telegram-group-moved',
      { chat: chats.moved, movedTo: chats.movedTo, hint: `Write to ${chats.movedTo} instead.` },
    ],
  ])
})

test('a rate limit is waited out as the body says, or as the header says if there is no body', async () => {
  await using bed = await open()
  bed.vendor.script(
    { kind: 'answer', answer: bed.vendor.refusals.rateLimited(31) },
    { kind: 'answer', answer: { status: 429, headers: { 'retry-after': '17' }, body: '' } },
  )
  assert.deepEqual([(await bed.failure()).retryAfter, (await bed.failure()).retryAfter], [31, 17])
})

test("each refusal of access names the operator's fix", async () => {
  await using bed = await open()
  const said = async (to: number | string) => {
    const { code, retryable, message } = await bed.failure(String(to))
    return [code, retryable, message]
  }
  assert.deepEqual(await said(chats.blocked), [
    'forbidden',
    false,
    'Telegram answers 403: Forbidden: bot was blocked by the user. This person has to unblock the bot.',
  ])
  assert.deepEqual((await said(chats.strange)).slice(0, 2), ['window-closed', false])
  assert.deepEqual((await said(chats.kicked)).slice(0, 2), ['forbidden', false])
  assert.deepEqual((await said('-1001234567890:topic:99')).slice(0, 2), ['bad-target', false])
  assert.deepEqual((await said('@nobody_there')).slice(0, 2), ['bad-target', false])
})

test('links have no previews, unless the operator wants them', async () => {
  await using bare = await open()
  await bare.send('https://example.org/')
  await using rich = await open({ linkPreviews: true })
  await rich.send('https://example.org/')
  assert.deepEqual(
    [bare.vendor.messages[0]?.['hasPreview'], rich.vendor.messages[0]?.['hasPreview']],
    [false, true],
  )
})

const callsInPieces = [
  '@\u202aada_l',
  '@\u0333ada_l and @a\u202bda_l',
  '@**ada_l**, @<b>ada</b>_l, **@**ada_l',
  't\u202ag://user?id=1',
  'tg:**//user?id=1**',
  'tg**:**//user?id=1',
  't**g**://user?id=1',
  'tg:/**/user?id=1**',
  '*tg*<b>:/</b>/user?id=1',
]

for (const format of ['html', 'plain'] as const) {
  test(`no mention arises when Telegram, or removing marks, joins texts: ${format}`, async () => {
    for (const text of callsInPieces) {
      await using bed = await open({ format })
      await bed.send(text)
      assert.deepEqual(bed.vendor.pings, [], JSON.stringify(text))
      const urls = bed.vendor.messages.flatMap(({ entities }) => entities as { type: string }[])
      assert.deepEqual(
        urls.filter(({ type }) => type === 'url'),
        [],
        JSON.stringify(text),
      )
    }
  })
}

test('a letter keeps the combining ring that Telegram would remove', async () => {
  await using bed = await open()
  await bed.send('A\u030angstro\u0308m')
  assert.equal(bed.vendor.messages[0]?.text, '\u00c5ngstro\u0308m')
})

test('the format `plain` sends text without markup and without mentions', async () => {
  await using bed = await open({ format: 'plain' })
  await bed.send('# Title\n\n**bold** <b>x</b> `@ada` @ada')
  const [request] = bed.sent()
  assert.equal(request?.['parse_mode'], undefined)
  assert.match(String(request?.['text']), /^Title/)
  assert.deepEqual(bed.vendor.pings, [])
})

const table = '| a | b |\n|---|---|\n| 1 | 2 |'

test('the format `rich` sends Markdown in one message where HTML would take many', async () => {
  await using bed = await open({ format: 'rich' })
  const paragraphs = 'A paragraph that says a little.\n\n'.repeat(500)
  await bed.send(`## Title\n\n${table}\n\n${paragraphs}`)
  assert.equal(bed.vendor.messages.length, 1)
  assert.equal(bed.vendor.messages[0]?.['isRich'], true)
  assert.match(bed.vendor.messages[0]?.text ?? '', /^## Title/)
})

test('rich messages are sent as HTML from then on if the server does not know them', async () => {
  await using bed = await open({ format: 'rich' }, { rich: false })
  await bed.send(`## Title\n\n${table}`)
  await bed.send('Two')
  assert.deepEqual(
    bed.vendor.requests.map(({ path }) => path.replace(/^.*\//, '')),
    ['sendRichMessage', 'sendMessage', 'sendMessage'],
  )
  assert.equal(bed.vendor.messages[1]?.text, 'Two')
  assert.equal(bed.warnings.length, 1)
})

test('a wrong token is not mistaken for a server without rich messages', async () => {
  await using bed = await open({ format: 'rich', botToken: 'malformed' }, { rich: false })
  assert.equal((await bed.failure()).code, 'bad-credential')
  assert.equal(bed.warnings.length, 0)
})

test('a long rich part that fails halfway as HTML continues after the messages that were sent', async () => {
  await using bed = await open({ format: 'rich' }, { rich: false })
  const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} says a little.`)
  const [part] = bed.channel.render(paragraphs.join('\n\n'))
  assert.ok(part !== undefined)
  const call = { target: bed.channel.target(bed.vendor.to), key: 'd:1', signal: new AbortController().signal }
  let left = 2
  const failing = createTelegramChannel({
    config: {
      ...(bed.vendor.config as { botToken: string; baseUrl: string }),
      format: 'rich',
      linkPreviews: false,
    },
    fetch: async (url, init) => {
      if (String(url).endsWith('/sendMessage') && left-- === 0)
        bed.vendor.script({ kind: 'answer', answer: bed.vendor.refusals.rateLimited(3) })
      return fetch(url, init)
    },
    log: { info() {}, warn() {}, error() {} },
    now: () => 0,
  })
  await assert.rejects(failing.send(part, call), { code: 'rate-limited' })
  assert.equal(bed.vendor.messages.length, 2)
  const { id } = await failing.send(part, call)
  const texts = bed.vendor.messages.map(({ text }) => text)
  assert.equal(new Set(texts).size, texts.length, 'nothing is sent twice')
  assert.deepEqual(texts.join('\n\n').split('\n\n'), paragraphs, 'nothing is lost')
  assert.deepEqual(id.split(',').length, texts.length)
})

test('a check names the bot that the token belongs to', async () => {
  await using bed = await open()
  assert.deepEqual(await bed.channel.check?.(new AbortController().signal), {
    ok: true,
    detail: 'Telegram knows the bot as @reveille_fake_bot.',
  })
})
