/** Tests that the requests of the channels and the answers of their fake servers conform to the vendors' published descriptions. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { load, type OpenVendor, setUp } from '../../plugins/kit/conformance/opened-vendor.ts'
import { withOtherCredentials } from '../../plugins/kit/conformance/refusals.ts'
import type { FakeServerRequest } from '../../plugins/kit/fake-server/index.ts'
import { isPluginError, type PluginError } from '../../plugins/kit/index.ts'
import { answersOf, isAnswerOf, type Rule, rulesOf } from './rules.ts'
import { openSpec, type Spec } from './spec.ts'
import { type Body, pluginOf, type Vendor, vendors } from './vendors.ts'

const formatted = `# Deploy

**All** of _it_ went ~~well~~ \`fine\`, see [the log](https://example.org/log?a=1&b=2).

1. one
2. two
   - nested

> said, & written <b>so</b>

\`\`\`ts
const answer = 42 < 43
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

---

@everyone 👩🏽‍🚀 שלום`

const ajv = new Ajv2020({ validateFormats: false, keywords: ['x-secret', 'x-env', 'x-ask', 'x-form'] })

const absent = openSpec('telegram') === undefined
if (absent) test.skip('the vendors’ descriptions are not at hand')

for (const vendor of absent ? [] : vendors) {
  for (const [way, open] of Object.entries(vendor.ways)) {
    test(`${vendor.name} (${way}): requests conform to the vendor’s description`, async () => {
      const check = (request: FakeServerRequest) => violationsOf(request, vendor)
      await using used = await setUp({ plugin: pluginOf(vendor), open })
      const { channel, vendor: fakeServer } = used
      // This tests the form of a message, not whether the vendor takes it.
      const send: OpenVendor['send'] = (...message) =>
        used.send(...message).catch((error: PluginError) => {
          if (error.code !== 'window-closed') throw error
          return []
        })
      await send('A short text.')
      await send('A long text, line by line.\n\n'.repeat(channel.limits.part / 20))
      await send(formatted)
      for (const to of [fakeServer.threadTo ?? [], vendor.addresses].flat()) {
        await send(`To ${to}.`, { to, delivery: to })
      }
      const health = await channel.check?.(new AbortController().signal)
      assert.equal(health?.ok, true, health?.detail)
      const problems = fakeServer.requests.flatMap((request) =>
        check(request).map((each) => [lineOf(request), each]),
      )
      assert.deepEqual(problems, [])
      const request = fakeServer.requests.find(({ text }) => text.includes('A short text.'))
      assert.ok(request)
      const json = vendor.withText(request.json as Body, 7 as never)
      assert.notDeepEqual(check({ ...request, json }), [], 'a text that is a number would be noticed')
    })
  }

  const open = Object.values(vendor.ways)[0] as Vendor['ways'][string]
  const rules = rulesOf(vendor)

  test(`${vendor.name}: each answer in the vendor’s rules is understood`, async () => {
    await using used = await setUp({ plugin: pluginOf(vendor), open })
    const mistaken: unknown[] = []
    const { taken = {} } = vendor
    const seen = new Set<string>()
    for (const rule of rules.errors) {
      if (rule.recover !== undefined) continue
      for (const answer of answersOf(rule, vendor)) {
        used.vendor.always({ kind: 'answer', answer })
        const error = await used.failure()
        if (isTakenFor(rule.class, error, used)) continue
        const word = String(vendor.word(answer.body))
        seen.add(word)
        if (!(word in taken)) mistaken.push([rule.class, answer, factsOf(error)])
      }
    }
    assert.deepEqual(mistaken, [])
    assert.deepEqual([...seen], Object.keys(taken))
  })

  test(`${vendor.name}: the fake server refuses what the vendor refuses, in its words`, async () => {
    await using used = await setUp({ plugin: pluginOf(vendor), open })
    const { vendor: fakeServer } = used
    await used.send('A short text.')
    const request = fakeServer.requests.findLast(({ text }) => text.includes('A short text.'))
    assert.ok(request)
    const stored = fakeServer.messages.length
    const { empty, tooLong, max } = rules.text
    if (empty) await assertRefused(used, withText(request, '', vendor), [empty], vendor)
    if (tooLong && max !== null) {
      // A limit in bytes applies to the message and not the text, so the text is well over it.
      await assertRefused(used, withText(request, 'x'.repeat(max * 2), vendor), [tooLong], vendor)
    }
    if (fakeServer.secrets.length > 0) {
      const ofCredentials = rules.errors.filter((rule) => rule.class === 'auth')
      await assertRefused(used, withOtherSecrets(request, fakeServer.secrets), ofCredentials, vendor)
    }
    assert.equal(fakeServer.messages.length, stored, 'nothing of it is stored')
  })

  test(`${vendor.name}: the schema is valid, and accepts exactly the configuration of the tests`, async () => {
    const { schema } = await load(pluginOf(vendor))
    const validate = ajv.compile(schema)
    for (const openWay of Object.values(vendor.ways)) {
      const fakeServer = await openWay()
      await fakeServer.close()
      assert.ok(validate(structuredClone(fakeServer.config)), ajv.errorsText(validate.errors))
      assert.ok(!validate({ ...fakeServer.config, misspelt: true }))
    }
  })

  test(`${vendor.name}: addresses conform to the vendor’s rules`, async () => {
    await using used = await setUp({ plugin: pluginOf(vendor), open })
    const patterns = rules.to.map(({ pattern }) => new RegExp(pattern))
    const isKnown = (address: string) => patterns.some((pattern) => pattern.test(address))
    const own = [used.vendor.to, used.vendor.unknownTo, ...vendor.addresses]
    const examples = rules.to.flatMap((form) => form.examples ?? [])
    for (const address of [...own, ...examples]) {
      assert.ok(isKnown(address), `the rules know ${address}`)
      assert.doesNotThrow(() => used.channel.target(address))
    }
    const foreign = vendors.flatMap((other) => other.addresses).filter((address) => !isKnown(address))
    for (const address of foreign) {
      assert.throws(
        () => used.channel.target(address),
        (error) => isPluginError(error) && error.code === 'bad-target',
        `${address} is no address of ${vendor.name}`,
      )
    }
  })
}

/** The compiled descriptions. */
const specs = new Map<string, Spec | undefined>()

/** Lists what a request violates of its description. */
function violationsOf(request: FakeServerRequest, vendor: Vendor): string[] {
  const described = vendor.description(request)
  if (described === undefined) return []
  const { name, path = request.path } = described
  if (!specs.has(name)) specs.set(name, openSpec(name))
  return specs.get(name)?.problems({ ...request, path }) ?? [`there is no description ${name}`]
}

function isTakenFor(kind: Rule['class'], error: PluginError, { channel }: OpenVendor): boolean {
  const { code, retryable, maybeDelivered, wholeService } = error
  switch (kind) {
    case 'auth':
      return code === 'bad-credential' && retryable && wholeService && !maybeDelivered
    case 'permanent':
      return !retryable && !maybeDelivered && code !== 'bad-credential'
    case 'rate-limit':
      return code === 'rate-limited' && retryable && !maybeDelivered
    case 'transient':
      return retryable
    case 'ambiguous':
      return retryable && (maybeDelivered || channel.idempotency !== undefined)
    default:
      return false
  }
}

function factsOf({ code, retryable, maybeDelivered, wholeService, message }: PluginError) {
  return { code, retryable, maybeDelivered, wholeService, message }
}

/** Sends a changed request directly to the fake server, and asserts that its answer matches one of the rules. */
async function assertRefused(
  used: OpenVendor,
  request: FakeServerRequest,
  rules: readonly Rule[],
  vendor: Vendor,
) {
  const path = request.path.split('/').map(encodeURIComponent).join('/')
  const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers
  const response = await fetch(`${used.vendor.url}${path}?${request.query}`, {
    method: request.method,
    headers: headers as Record<string, string>,
    body: request.text,
  })
  const text = await response.text()
  const answer = { status: response.status, body: parse(text) }
  const isKnown = rules.some((rule) => isAnswerOf(rule, answer, vendor))
  assert.ok(isKnown, `${response.status} ${text} is none of ${JSON.stringify(rules)}`)
}

function withText(request: FakeServerRequest, text: string, vendor: Vendor): FakeServerRequest {
  return { ...request, text: JSON.stringify(vendor.withText(request.json as Body, text)) }
}

function withOtherSecrets(request: FakeServerRequest, secrets: readonly string[]): FakeServerRequest {
  const change = (text: string) => {
    const { text: changed } = withOtherCredentials({ text }, secrets) as { text: string }
    if (changed !== text) return changed
    return secrets.reduce((rest, secret) => rest.replaceAll(secret, `${secret.slice(0, -1)}_`), text)
  }
  const query = new URLSearchParams(
    [...request.query].map(([name, value]): [string, string] => [name, change(value)]),
  )
  const headers = Object.entries(request.headers).map(([name, value]) => [name, change(value ?? '')])
  return { ...request, path: change(request.path), query, headers: Object.fromEntries(headers) }
}

function parse(text: string): Body {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function lineOf({ method, path }: FakeServerRequest): string {
  return `${method} ${path}`
}
