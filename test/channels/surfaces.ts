/** Sets up the surfaces that replies are written for: each channel as its plugin does, with a fake server of its vendor. */

import { readFileSync } from 'node:fs'
import type { Channel, Part, Plugin } from '@reveille/kit'
import type { FakeVendor } from '@reveille/kit/fake-server'
import { vendorNames } from './eight.ts'

export interface Surface {
  readonly name: string
  /** The package. */
  readonly plugin: string
  /** The configuration, if it is not the default. */
  readonly config?: Readonly<Record<string, unknown>>
}

export const surfaces: readonly Surface[] = [
  ...vendorNames.map((name) => ({ name, plugin: name })),
  { name: 'slack-mrkdwn', plugin: 'slack', config: { format: 'mrkdwn' } },
]

export interface OpenSurface extends AsyncDisposable {
  readonly channel: Channel
  readonly vendor: FakeVendor
  /** Returns what a person reads of a part. */
  visibleText(part: Part): string
}

export async function openSurface({ plugin, config = {} }: Surface): Promise<OpenSurface> {
  const folder = new URL(`../../plugins/${plugin}/`, import.meta.url)
  const fakeServer: {
    openVendor(options: object): Promise<FakeVendor>
    visibleText(part: Part): string
  } = await import(new URL('fake-server/index.ts', folder).href)
  const { default: found }: { default: Plugin<unknown> } = await import(new URL('index.ts', folder).href)
  const vendor = await fakeServer.openVendor(config)
  const ending = new AbortController()
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const provided = await found.setup({
    config: { ...defaultsOf(folder), ...vendor.config, ...config },
    log: quiet,
    fetch,
    signal: ending.signal,
  })
  const channel = provided.channels?.[0]
  if (channel === undefined) throw new Error(`the plugin ${plugin} brings no channel`)
  return {
    channel,
    vendor,
    visibleText: fakeServer.visibleText,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await provided.close?.()
      await vendor.close()
    },
  }
}

/** Fills in the defaults as the host does. */
function defaultsOf(folder: URL): Record<string, unknown> {
  const schema = JSON.parse(readFileSync(new URL('config.schema.json', folder), 'utf8')) as {
    properties: Record<string, { default?: unknown }>
  }
  const given = Object.entries(schema.properties).filter(([, property]) => property.default !== undefined)
  return Object.fromEntries(given.map(([key, property]) => [key, property.default]))
}
