/** The bodies that presets are tested with: recorded ones, those of the presets' own tests, and changed ones of both. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { octokitSamples, recordedSamples, type Sample } from '../sample-data.ts'
import { type SoundPresets, withChanges } from './presets.ts'

/** A body for a preset with the ids of the mappings that must take it, or `ignored`. */
export interface PresetSample {
  readonly preset: string
  readonly sample: Sample
  readonly mapping: string
}

interface Recorded {
  readonly recorded: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly changed: readonly { preset: string; body: string; mapping: string; set: Record<string, unknown> }[]
  readonly examples: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>
}
type Events = Readonly<
  Record<string, readonly { of: string; mapping: string; at: string; values: readonly unknown[] }[]>
>

const read = (name: string) => parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
export const expected: Recorded = read('recorded.yaml')
const events: Events = read('events.yaml')

/** The bodies of the presets' own tests. */
export function testSamples({ configuration }: SoundPresets): readonly PresetSample[] {
  return configuration.tests.map(({ value: { name, request, expect } }) => {
    const { endpoint, headers = {}, body, bodyText = JSON.stringify(body ?? {}) } = request
    const mapping = expect.mapping ?? expect.actions?.map((action) => action.mapping).join(', ')
    return { preset: endpoint, sample: { name, headers, body: bodyText }, mapping: mapping ?? '' }
  })
}

/** The bodies of `events.yaml`. */
export function eventSamples(tests: readonly PresetSample[]): readonly PresetSample[] {
  return Object.entries(events).flatMap(([preset, rows]) =>
    rows.flatMap(({ of, mapping, at, values }) => {
      const test = tests.find((each) => each.preset === preset && each.sample.name === of)
      if (!test) throw new Error(`${preset} has no test "${of}"`)
      return values.map((value) => ({ preset, sample: withChanges(test.sample, { [at]: value }), mapping }))
    }),
  )
}

/** GitHub's own examples. */
export function exampleSamples(): readonly PresetSample[] {
  const mappings = new Map<string, string>(
    Object.entries(expected.examples).flatMap(([mapping, byEvent]) =>
      Object.entries(byEvent).flatMap(([event, numbers]) =>
        numbers.map((number) => [`${event}#${number}`, mapping] as const),
      ),
    ),
  )
  return octokitSamples().map((sample) => ({
    preset: 'github',
    sample,
    mapping: mappings.get(sample.name) ?? 'ignored',
  }))
}

/** Recorded bodies of the presets' senders; none without the folder. A body without a row has the mapping "no row". */
export function recordedPresetSamples(): readonly PresetSample[] {
  return Object.entries(expected.recorded).flatMap(([preset, rows]) => {
    const senders = new Set(Object.keys(rows).map((name) => name.split('/')[0] ?? ''))
    const samples = [...senders].flatMap((sender) => recordedSamples(sender) ?? [])
    return samples.map((sample) => ({ preset, sample, mapping: rows[sample.name] ?? 'no row' }))
  })
}

/** Recorded bodies with other values. */
export function changedSamples(recorded: readonly PresetSample[]): readonly PresetSample[] {
  if (recorded.length === 0) return []
  return expected.changed.map(({ preset, body, mapping, set }) => {
    const base = recorded.find((each) => each.preset === preset && each.sample.name === body)
    if (!base) throw new Error(`${body} is not recorded`)
    const pointers = Object.entries(set).map(([pointer, value]) => [`/body${pointer}`, value])
    return { preset, sample: withChanges(base.sample, Object.fromEntries(pointers)), mapping }
  })
}
