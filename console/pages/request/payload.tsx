/** The payload of a request: headers, query and body, as text whatever they hold. */

import { useState } from 'preact/hooks'
import { hrefOf } from '../../browser/router.ts'
import { getBlob, mayDo } from '../../data/api.ts'
import { useSending, useText } from '../../data/load.ts'
import type { RequestDetail } from '../../data/types.ts'
import { Button } from '../../parts/controls.tsx'
import { CopyButton, saveFile } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icons.tsx'
import { layOut } from '../../parts/json-layout.ts'
import { Code, TextBlock } from '../../parts/marked.tsx'
import { LoadedView, Problem } from '../../parts/notice.tsx'
import { Facts, text } from '../../parts/record.tsx'

export function Payload({ request }: { readonly request: RequestDetail }) {
  const { bodyKept, bodyBytes, forgottenAt } = request
  return (
    <>
      <Headers request={request} />
      <section>
        <h2>Body</h2>
        {bodyKept === true ? (
          <Body request={request} />
        ) : (
          <p class="quiet">
            {forgottenAt !== undefined
              ? 'It was erased on request.'
              : bodyBytes === 0
                ? 'It had none.'
                : 'It is not kept. Bodies of failed requests are; `history.bodies: all` keeps the others too.'}
          </p>
        )}
      </section>
    </>
  )
}

function Headers({ request: { headers, query } }: { readonly request: RequestDetail }) {
  const lists = [
    ['Headers', headers],
    ['Query', query],
  ] as const
  return (
    <>
      {lists.map(([title, values]) => {
        const rows = Object.entries(values ?? {}).flatMap(([name, value]) =>
          value === undefined ? [] : [value].flat().map((each) => [name, String(each)] as const),
        )
        if (rows.length === 0) return null
        return (
          <section key={title}>
            <h2>{title}</h2>
            <Facts facts={rows.map(([name, value]) => [text(name), Code({ text: value })])} />
          </section>
        )
      })}
    </>
  )
}

function Body({ request: { id, endpoint } }: { readonly request: RequestDetail }) {
  const [isRaw, setRaw] = useState(false)
  const { error, send } = useSending<void>()
  const saveRaw = () =>
    send(getBlob(`/requests/${id}/body?raw=true`).then((raw) => saveFile(`${id}.body`, raw)))

  const shown = (body: string, isCut: boolean) => {
    const laidOut = isCut ? undefined : layOut(body)
    return (
      <>
        <div class="toolbar">
          <CopyButton text={body} what="the body" />
          {mayDo('operate') && (
            <Button onClick={() => void saveRaw()}>
              <Icon name="download" /> Raw
            </Button>
          )}
          <a class="button" href={hrefOf('/playground', { request: id })}>
            Open in the playground
          </a>
          {laidOut !== undefined && (
            <label class="line">
              <input type="checkbox" checked={isRaw} onChange={() => setRaw(!isRaw)} />
              unformatted
            </label>
          )}
        </div>
        {error !== undefined && <Problem error={error} retry={() => void saveRaw()} />}
        <TextBlock label={`Body of the request to /${endpoint}`} text={isRaw ? body : (laidOut ?? body)} />
        {isCut && <p class="quiet">Only the beginning is shown. The raw file has all of it.</p>}
      </>
    )
  }
  return (
    <LoadedView loaded={useText(`/requests/${id}/body`)} label="the body">
      {({ text: body, isCut }) => shown(body, isCut)}
    </LoadedView>
  )
}
