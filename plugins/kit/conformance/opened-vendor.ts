/** Sets a channel up against the fake server of its vendor, as a host would. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { type Channel, channelErrorCodes, type Part } from '../channel.ts'
import type { FakeVendor } from '../fake-server/index.ts'
import type { Plugin, PluginManifest } from '../plugin.ts'
import type { PluginError } from '../plugin-error.ts'
import { createPluginFetch } from '../plugin-fetch.ts'
import { assertPluginError, assertSentence } from './assertions.ts'
import { within } from './deadline.ts'

export interface VendorSetup {
  /** The plugin's entry point, which its package exports. */
  readonly plugin: URL
  /** Starts a fake server of the vendor. */
  open(): Promise<FakeVendor>
}

export interface VendorConformance extends VendorSetup {
  /** The name of the suite in the report. */
  readonly name: string
  /** Returns what a person reads of a part once its markup is applied. Pure, and independent of the tested renderer. */
  visibleText(part: Part): string
  /** Addresses grouped by place. The first address of the first place takes messages. */
  readonly places: readonly (readonly string[])[]
  /** Texts that are not addresses, in addition to blank ones. */
  readonly badAddresses: readonly string[]
  /** True if the vendor's markup has code fences. Default: true. */
  readonly fences?: boolean
  /** The key of the service's address. To a `baseUrl` paths are appended; a `url` is whole, and may have a query. Default: `baseUrl` */
  readonly addressKey?: 'baseUrl' | 'url'
}

/** Tests by name. Each is given a channel that is set up against its vendor. */
export type VendorTests = Readonly<
  Record<
    string,
    (used: OpenVendor, options: Omit<VendorConformance, 'name'>, t: TestContext) => Promise<void>
  >
>

export type Configuration = Readonly<Record<string, unknown>>

export interface SendOptions {
  /** The address to send to. Default: the fake server's own. */
  readonly to?: string
  /** The delivery, to which the number of the part is added. Default: always the same one. */
  readonly delivery?: string
  readonly signal?: AbortSignal
}

export type OpenVendor = Awaited<ReturnType<typeof setUp>>

/** Sets the plugin up. `change` modifies the configuration that the fake server offers. */
export async function setUp(
  { plugin: entry, open }: VendorSetup,
  change: (config: Configuration, secrets: readonly string[]) => Configuration = (config) => config,
) {
  const { plugin, manifest, schema } = await load(entry)
  const vendor = await open()
  const { secrets } = vendor
  const abort = new AbortController()
  const lines: string[] = []
  const write = (...line: unknown[]) => void lines.push(JSON.stringify(line))
  let close: (() => Promise<void> | void) | undefined

  async function closePlugin(): Promise<void> {
    abort.abort()
    await close?.()
    close = undefined
  }

  try {
    const config = change(fillIn(schema, vendor.config) as Configuration, secrets)
    const provided = await plugin.setup({
      config: Object.freeze(config),
      log: { info: write, warn: write, error: write },
      fetch: createPluginFetch({
        fetch: globalThis.fetch,
        log: { debug: write },
        owner: { plugin: plugin.name },
        signal: abort.signal,
      }),
      signal: abort.signal,
    })
    close = provided.close?.bind(provided)
    const channel = provided.channels?.find(({ id }) => manifest.channels?.includes(id))
    assert.ok(channel !== undefined, 'setup brings the channel that the manifest names')

    /** Sends each part of a reply once. @throws the error of the channel */
    async function send(markdown: string, options: SendOptions = {}): Promise<unknown[]> {
      const { to = vendor.to, delivery = firstDelivery, signal = forever } = options
      const target = (channel as Channel).target(to)
      const receipts: unknown[] = []
      for (const [index, part] of (channel as Channel).render(markdown).entries()) {
        const call = { target, key: `${delivery}:${index + 1}`, signal }
        const sending = (channel as Channel).send(Object.freeze<Part>(part), call)
        receipts.push(await within(sending, 'the send ends'))
      }
      return receipts
    }

    /** Returns the error of a short reply, which has to be well formed and show no secret. */
    async function failure(options?: SendOptions): Promise<PluginError> {
      const error = await assertPluginError(send(shortText, options), secrets)
      assertSentence(error.message, 'the error’s message')
      assert.ok(
        (channelErrorCodes as readonly string[]).includes(error.code),
        `${error.code} is a code of channels`,
      )
      return error
    }

    return {
      ...{ vendor, channel, send, failure, closePlugin },
      /** The log lines of the plugin and its fetch. */
      lines: lines as readonly string[],
      async [Symbol.asyncDispose]() {
        await closePlugin()
        await vendor.close()
      },
    }
  } catch (error) {
    await closePlugin()
    await vendor.close()
    throw error
  }
}

export const shortText = 'A short text.'
export const firstDelivery = '019a0000-0000-7000-8000-000000000001'
const forever = new AbortController().signal

export interface LoadedPlugin {
  readonly plugin: Plugin<Configuration>
  readonly manifest: PluginManifest
  readonly schema: JsonSchema
}

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}

/** The loaded plugins, so that each is read once. */
const loaded = new Map<string, Promise<LoadedPlugin>>()

/** Loads the default export of the entry point, and what its package declares. */
export function load(entry: URL): Promise<LoadedPlugin> {
  const loading = loaded.get(entry.href) ?? read(entry)
  loaded.set(entry.href, loading)
  return loading
}

async function read(entry: URL): Promise<LoadedPlugin> {
  const { default: plugin } = await import(entry.href)
  const file = manifestOf(entry)
  const { reveille: manifest } = JSON.parse(await readFile(file, 'utf8'))
  const schema = JSON.parse(await readFile(new URL(manifest.configSchema, file), 'utf8'))
  return { plugin, manifest, schema }
}

/** Returns the nearest package.json above. */
function manifestOf(entry: URL): URL {
  for (let folder = new URL('./', entry); ; folder = new URL('../', folder)) {
    const file = new URL('package.json', folder)
    if (existsSync(file)) return file
    assert.notEqual(folder.pathname, new URL('../', folder).pathname, `a package.json above ${entry.href}`)
  }
}

/** Fills in the defaults of a schema's properties, as the host does before `setup`. */
export function fillIn(schema: JsonSchema, given: unknown): unknown {
  const value = given === undefined ? schema['default'] : given
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const filled: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const each = fillIn(property, filled[name])
    if (each !== undefined) filled[name] = each
  }
  return filled
}
