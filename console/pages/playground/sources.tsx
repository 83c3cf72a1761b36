/** Where a draft comes from: a stored request, a sample of the configuration, a live mapping. */

import { useState } from 'preact/hooks'
import { announce } from '../../browser/announce.tsx'
import { get, getText } from '../../data/api.ts'
import { useLoaded, useSending } from '../../data/load.ts'
import type { ItemOf, Page, RequestDetail } from '../../data/types.ts'
import { Button } from '../../parts/controls.tsx'
import { Marked } from '../../parts/marked.tsx'
import { change, entryAt, headersText, payloadText, queryText } from './draft.ts'

export type Mapping = ItemOf<'listMappings'>
type Sample = ItemOf<'listSamples'>

const maxBytes = 1024 * 1024

/** Reads a stored request into the draft. Parts of it that are not kept stay unchanged. @throws ApiError */
export async function loadRequest(id: string): Promise<void> {
  const { headers, query, ...record } = await get<RequestDetail>(`/requests/${encodeURIComponent(id)}`)
  change({
    endpoint: record.endpoint,
    request: record.id,
    ...(headers && { headers: headersText(headers) }),
    ...(query && { query: queryText(query) }),
  })
  const { text, isCut } = await getText(`/requests/${record.id}/body`, maxBytes)
  change({ payload: payloadText(text) })
  announce(isCut ? 'Loaded the request; its payload is too long and was cut.' : 'Loaded the request.')
}

interface LoadFromProps {
  readonly label: string
  /** Completes "Load …": `the sample`. */
  readonly what: string
  readonly options: readonly (readonly [name: string, load: () => void])[]
}

/** A choice with a button, because a list that is walked through by keyboard would load each of its entries. */
function LoadFrom({ label, what, options }: LoadFromProps) {
  const [chosen, setChosen] = useState(0)
  return (
    <div class="toolbar">
      <label class="field">
        {label}
        <select value={chosen} onChange={(event) => setChosen(event.currentTarget.selectedIndex)}>
          {options.map(([name], index) => (
            <option key={index} value={index}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Button aria-label={`Load ${what}`} onClick={() => options[chosen]?.[1]()}>
        Load
      </Button>
    </div>
  )
}

/** Lists the samples of the endpoint: the tests that are beside its mappings. */
export function SampleSelect({ endpoint }: { readonly endpoint: string }) {
  const path = endpoint === '' ? undefined : `/endpoints/${encodeURIComponent(endpoint)}/samples`
  const samples = useLoaded<Page<Sample>>(path).data?.items ?? []
  function choose({ name, body, headers = {}, query = {} }: Sample) {
    const payload = payloadText(body)
    change({ request: undefined, payload, headers: headersText(headers), query: queryText(query) })
    announce(`Loaded the sample ${name}.`)
  }
  if (samples.length === 0) return null
  const options = samples.map((sample) => [sample.name, () => choose(sample)] as const)
  return <LoadFrom label="Sample" what="the sample" options={options} />
}

/** Lists the live mappings; one that is chosen is copied into the draft. */
export function MappingSelect({ mappings }: { readonly mappings: readonly Mapping[] }) {
  const { error, send } = useSending<void>()
  async function choose({ id, place }: Mapping) {
    const mapping = await readMapping(place)
    change({ mapping, file: /^[^/]+\/(.+\.ya?ml):/.exec(place)?.[1] })
    announce(`Loaded the mapping ${id}.`)
  }
  if (mappings.length === 0) return null
  return (
    <>
      <LoadFrom
        label="Start from a live mapping"
        what="the mapping"
        options={mappings.map((mapping) => [mapping.id, () => void send(choose(mapping))])}
      />
      {error !== undefined && (
        <p class="note tone-bad" role="alert">
          <Marked text={error.message} />
        </p>
      )}
    </>
  )
}

/** Reads the text of an entry of the live generation. */
async function readMapping(place: string): Promise<string> {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(place) ?? []
  const { items } = await get<Page<{ generation?: number; state: string }>>('/generations', { limit: 50 })
  const live = items.find(({ state }) => state === 'live')?.generation
  if (file === undefined || live === undefined) throw new Error('The text of this mapping is not kept.')
  const { text = '' } = await get<{ text?: string }>(`/generations/${live}/file`, { path: file })
  const entry = entryAt(text, Number(line), Number(column))
  if (entry === undefined) throw new Error('The text of this mapping was not found in its file.')
  return entry
}
