/** The playground: a payload on the left, a mapping on the right, and below what the gateway would make of them, as one types. */

import { useMemo, useRef, useState } from 'preact/hooks'
import { useAnnounced } from '../browser/announce.tsx'
import { hrefOf, matchPath, type PageProps } from '../browser/router.ts'
import { useLoaded, useRead } from '../data/load.ts'
import type { Answer, DryRun, Page } from '../data/types.ts'
import { CodeEditor } from '../editor/code-editor.tsx'
import type { KnownFields } from '../editor/mapping-completion.ts'
import { pathsOf } from '../editor/payload-paths.ts'
import { Badge } from '../parts/badge.tsx'
import { type Diagnostic, DiagnosticList } from '../parts/code-frame.tsx'
import { Button, Field } from '../parts/controls.tsx'
import { CopyButton, saveFile } from '../parts/copy.tsx'
import { TextBlock } from '../parts/marked.tsx'
import { Problem } from '../parts/notice.tsx'
import { link } from '../parts/record.tsx'
import { Trace } from '../parts/trace.tsx'
import { change, draft, parseHeaders } from './playground/draft.ts'
import { useDryRun } from './playground/dry-run.ts'
import { Save } from './playground/save.tsx'
import { loadRequest, type Mapping, MappingSelect, SampleSelect } from './playground/sources.tsx'

const none: readonly Diagnostic[] = []

export function Playground({ query }: PageProps) {
  const { endpoint, headers, payload, mapping, file } = draft.value
  const dryRun = useDryRun(draft.value)
  const requestId = query.get('request')
  // The request that the address names is loaded once.
  const { error: problem } = useRead(requestId ?? undefined, async () => {
    if (requestId !== null && draft.value.request !== requestId) await loadRequest(requestId)
  })
  const [goTo, setGoTo] = useState<{ line: number; column: number }>()
  const named = useLoaded<Page<{ name: string }>>('/endpoints').data
  const endpoints = useMemo(() => named?.items.map(({ name }) => name) ?? [], [named])
  const mappings = (useLoaded<Page<Mapping>>('/mappings').data?.items ?? []).filter(
    ({ path = '' }) => path === '' || path === '/' || matchPath(path, endpoint) !== undefined,
  )
  const known = useKnownFields(endpoint, headers, payload, endpoints)
  // The eyes are on the editor.
  useAnnounced(dryRun.tried && outcomeText(dryRun.tried))
  const fileName = file ?? `${endpoint.split('/')[0]?.replace(/[^\w.-]/g, '') || 'new'}.yaml`

  return (
    <>
      <h1>Playground</h1>
      <p class="quiet lead">
        What the gateway would do with a request. Nothing is stored or sent, and nothing is written until you
        save.
      </p>
      {problem !== undefined && <Problem error={problem} />}
      <RequestSource endpoints={endpoints} />
      <div class="playground-editors">
        <RequestEditor />
        <section aria-label="Mapping" class="stack">
          <CodeEditor
            label="Mapping"
            text={mapping}
            onChange={(text) => change({ mapping: text })}
            messages={dryRun.tried?.diagnostics ?? none}
            goTo={goTo}
            known={known}
          />
          <div class="toolbar">
            <MappingSelect mappings={mappings} />
            {mapping.trim() === '' ? (
              <span class="quiet">Empty: the live mappings are tried.</span>
            ) : (
              <Button onClick={() => change({ mapping: '' })}>Try the live mappings</Button>
            )}
          </div>
        </section>
      </div>
      <section class="stack" id="result" aria-label="Result">
        <h2>Result</h2>
        {dryRun.error !== undefined && <Problem error={dryRun.error} />}
        {endpoint.trim() === '' && (
          <p class="quiet">Name an endpoint, or open a stored request in the playground.</p>
        )}
        {dryRun.tried?.diagnostics !== undefined && dryRun.tried.diagnostics.length > 0 && (
          <DiagnosticList
            diagnostics={dryRun.tried.diagnostics}
            label="Messages about the mapping"
            onGoTo={(line, column) => setGoTo({ line, column })}
          />
        )}
        {dryRun.tried !== undefined && <Result tried={dryRun.tried} callOut={dryRun.callOut} />}
      </section>
      {mapping.trim() !== '' && <Save mapping={mapping} test={dryRun.tried?.test} suggested={fileName} />}
      {dryRun.tried !== undefined && (
        <a class="button outcome-bar only-phone" href="#result">
          <Badge state={dryRun.tried.decision?.outcome ?? 'failed'} />
          <span>{dryRun.tried.decision === undefined ? 'The mapping has a mistake' : 'See the result'}</span>
        </a>
      )}
    </>
  )
}

/** Choice of the request: its endpoint, a stored one, or a sample. */
function RequestSource({ endpoints }: { readonly endpoints: readonly string[] }) {
  const { endpoint, request } = draft.value
  return (
    <div class="toolbar">
      <Field
        label="Endpoint"
        value={endpoint}
        placeholder="github"
        options={endpoints}
        onText={(text) => change({ endpoint: text })}
      />
      <a class="button" href={hrefOf('/live', { endpoint })}>
        Find a stored request
      </a>
      <SampleSelect endpoint={endpoint} />
      {link('/requests', request, `from request ${request?.slice(-8)}`)}
    </div>
  )
}

function RequestEditor() {
  const { payload, headers, query } = draft.value
  return (
    <section aria-label="Request" class="stack">
      <CodeEditor label="Payload" text={payload} onChange={(text) => change({ payload: text })} />
      <details>
        <summary>Headers and query</summary>
        <Field
          label="Headers, one a line"
          rows={5}
          value={headers}
          onText={(text) => change({ headers: text })}
        />
        <Field label="Query" value={query} onText={(text) => change({ query: text })} />
      </details>
    </section>
  )
}

function Result({ tried, callOut }: { readonly tried: DryRun; readonly callOut: () => void }) {
  const { decision, stops = [], test } = tried
  if (decision === undefined) return null
  return (
    <>
      <Trace {...tried} />
      {stops.length > 0 && (
        <p class="toolbar">
          <Button onClick={callOut}>Try once and let it call out</Button>
        </p>
      )}
      {test !== undefined && (
        <details class="stack">
          <summary>As a test</summary>
          <p class="quiet">In a mapping file it is run before each change goes live.</p>
          <TextBlock text={test} label="Test" />
          <p class="toolbar">
            <CopyButton text={test} what="the test" />
            <Button onClick={() => saveFile('test.yaml', new Blob([test], { type: 'application/yaml' }))}>
              Download
            </Button>
          </p>
        </details>
      )}
    </>
  )
}

/** Fields for completion: those of this payload, and then those of the last payloads of the endpoint. */
function useKnownFields(
  endpoint: string,
  headers: string,
  payload: string,
  endpoints: readonly string[],
): () => KnownFields {
  const stored = useLoaded<FieldPaths>(
    endpoints.includes(endpoint) ? `/endpoints/${encodeURIComponent(endpoint)}/paths` : undefined,
  ).data
  const newest = useRef<KnownFields>({ paths: [], headers: {}, endpoints: [] })
  newest.current = useMemo(() => {
    const own = pathsOf(parsed(payload))
    const names = new Set(own.map(({ path }) => path))
    const others = (stored?.fields ?? []).filter(({ path }) => !names.has(path))
    const seen = Object.fromEntries(
      (stored?.headers ?? []).map(({ name, example }) => [name, plainText(example)]),
    )
    return { paths: [...own, ...others], headers: { ...seen, ...parseHeaders(headers) }, endpoints }
  }, [payload, headers, stored, endpoints])
  return () => newest.current
}

/** Fields in the last payloads of an endpoint. Examples are compact JSON. */
type FieldPaths = Answer<'listPaths'>

function plainText(example: string): string {
  const text = parsed(example)
  return typeof text === 'string' ? text : example
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}

function outcomeText({ decision, diagnostics = [] }: DryRun): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (decision === undefined)
    return `The mapping has ${errors.length === 1 ? 'a mistake' : 'mistakes'}: ${errors[0]?.message ?? ''}`
  return decision.mapping === undefined ? decision.outcome : `${decision.outcome} by ${decision.mapping}`
}
