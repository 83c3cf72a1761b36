/** Tests a channel's configuration: its schema, its own check, and the check of the service. */

import assert from 'node:assert/strict'
import { assertNoSecret, assertSentence } from './assertions.ts'
import { within } from './deadline.ts'
import { type JsonSchema, load, type OpenVendor, setUp, type VendorTests } from './opened-vendor.ts'
import { withOtherCredentials } from './refusals.ts'

export const configurationTests: VendorTests = {
  async 'reports a good credential, and sends nothing'(used) {
    const { ok, detail } = await check(used)
    assert.equal(ok, true, detail)
    assert.deepEqual(used.vendor.messages, [])
  },

  async 'reports a bad credential in a sentence'(_used, options, t) {
    await using used = await setUp(options, withOtherCredentials)
    if (used.vendor.secrets.length === 0) return t.skip('the vendor asks for no credential')
    const { ok, detail } = await check(used)
    assert.equal(ok, false)
    assertSentence(detail, 'the detail')
  },

  async 'reports an unreachable service in a sentence'(used) {
    await used.vendor.close()
    const { ok, detail } = await check(used)
    assert.equal(ok, false)
    assertSentence(detail, 'the detail')
  },

  async 'accepts an address of its own as `defaultTo`'(_used, options) {
    await using used = await setUp(options, (config) => ({ ...config, defaultTo: undefined }))
    await using other = await setUp(options, (config) => ({ ...config, defaultTo: used.vendor.to }))
    assert.equal(used.channel.defaultTo, undefined)
    assert.equal(other.channel.defaultTo, used.vendor.to)
  },

  async 'refuses a `defaultTo` that is not an address, in `check` and in `setup`'(used, options) {
    const { plugin } = await load(options.plugin)
    plugin.check?.(used.vendor.config)
    for (const defaultTo of options.badAddresses) {
      const config = { ...used.vendor.config, defaultTo }
      assert.ok(plugin.check !== undefined, 'the plugin has a check')
      assert.throws(() => plugin.check?.(config), /defaultTo/, `check refuses '${defaultTo}'`)
      const setting = setUp(options, () => config).then((other) => other[Symbol.asyncDispose]())
      await assert.rejects(setting, /defaultTo/, `setup refuses '${defaultTo}'`)
    }
  },

  async 'accepts the address of a service, without a name or a password'(
    _used,
    { plugin, addressKey = 'baseUrl' },
  ) {
    const { schema } = await load(plugin)
    const pattern = new RegExp(String(schema.properties?.[addressKey]?.['pattern']), 'u')
    for (const good of ['http://127.0.0.1:8080', 'https://chat.example.org/api/', 'http://[::1]:80/x'])
      assert.match(good, pattern)
    for (const bad of ['chat.example.org', 'ftp://a.org', 'https://u:p@a.org', 'https://a.org#b'])
      assert.doesNotMatch(bad, pattern)
    assert.equal(pattern.test('https://a.org/?b=c'), addressKey === 'url')
  },

  async 'describes its configuration in a schema'(used, { plugin, addressKey = 'baseUrl' }) {
    const { schema } = await load(plugin)
    assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema')
    assert.equal(schema['type'], 'object')
    assertDescribed(schema, 'the configuration')
    for (const name of [addressKey, 'defaultTo']) assert.ok(schema.properties?.[name], `there is ${name}`)
    const unmarked = credentialsOf(schema, used.vendor.config, used.vendor.secrets)
    assert.deepEqual(unmarked, [], 'each credential is marked with x-secret')
  },
}

async function check({ channel, vendor }: OpenVendor) {
  assert.ok(channel.check !== undefined, 'the channel has a check')
  const health = await within(channel.check(new AbortController().signal), 'the check ends')
  assertNoSecret(JSON.stringify(health), vendor.secrets)
  return health
}

/** Asserts that every object is closed and every property has a sentence and a type. */
function assertDescribed(schema: JsonSchema, where: string): void {
  if (schema.properties !== undefined) {
    assert.equal(schema['additionalProperties'], false, `${where} is closed`)
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    assertSentence(property['description'], `the description of ${name}`)
    const hasKind = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf'].some((keyword) => keyword in property)
    assert.ok(hasKind, `${name} has a kind`)
    assertDescribed(property, name)
  }
}

/** Names of properties that usually hold a secret. */
function credentialsOf(schema: JsonSchema, config: object, secrets: readonly string[]): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    const property = schema.properties?.[name] ?? {}
    if (typeof value === 'object' && value !== null) return credentialsOf(property, value, secrets)
    const isSecret = typeof value === 'string' && secrets.includes(value)
    return isSecret && property['x-secret'] !== true ? [name] : []
  })
}
