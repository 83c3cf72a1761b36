/** A field for code. The editor comes as a chunk of its own; where it cannot be loaded, a plain field replaces it. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { nonce } from '../browser/nonce.ts'
import { isDark } from '../browser/theme.ts'
import type { Editor, KnownFields, Message } from '../editor/editor.ts'

export interface CodeEditorProps {
  readonly label: string
  readonly language: 'yaml' | 'json'
  readonly text: string
  /** Another number whenever `text` is other than by typing: what was typed may be newer than what is passed back. */
  readonly loads: number
  readonly onChange: (text: string) => void
  readonly messages?: readonly Message[]
  /** Puts the cursor at a place whenever this is another object. */
  readonly goTo?: { readonly line: number; readonly column: number }
  readonly known?: () => KnownFields
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, language, text, loads, messages = [], goTo } = props
  const name = useId()
  const hint = useId()
  const place = useRef<HTMLDivElement>(null)
  const newest = useRef(props)
  newest.current = props
  const [editor, setEditor] = useState<Editor>()
  /** The load whose text the editor has. */
  const shown = useRef(loads)
  const [isPlain, setPlain] = useState(false)

  useEffect(() => {
    let made: Editor | undefined
    let isLeft = false
    import('../editor/editor.ts').then(
      ({ createEditor }) => {
        if (isLeft || place.current === null) return
        shown.current = newest.current.loads
        made = createEditor({
          parent: place.current,
          language,
          text: newest.current.text,
          labelledBy: name,
          describedBy: hint,
          nonce,
          isDark: isDark.value,
          onChange: (changed) => newest.current.onChange(changed),
          known: () => newest.current.known?.() ?? { paths: [], headers: {}, endpoints: [] },
        })
        setEditor(made)
      },
      () => setPlain(true),
    )
    return () => {
      isLeft = true
      made?.close()
    }
  }, [])
  useEffect(() => {
    if (shown.current === loads) return
    shown.current = loads
    editor?.setText(newest.current.text)
  }, [editor, loads])
  useEffect(() => editor?.setMessages(messages), [editor, messages])
  useEffect(() => isDark.subscribe((dark) => editor?.setDark(dark)), [editor])
  useEffect(() => {
    if (goTo) editor?.goTo(goTo.line, goTo.column)
  }, [editor, goTo])

  return (
    <div class="code-editor">
      <div class="code-editor-name" id={name}>
        {label}
      </div>
      <div class="visually-hidden" id={hint}>
        Tab indents. Press Escape and then Tab to leave the editor.
      </div>
      <div class="code-editor-place" ref={place} data-editor={language}>
        {isPlain ? (
          <textarea
            aria-labelledby={name}
            spellcheck={false}
            value={text}
            onInput={(event) => props.onChange(event.currentTarget.value)}
          />
        ) : (
          editor === undefined && <p class="quiet">Loading the editor …</p>
        )}
      </div>
      {!isPlain && (
        <p class="hint quiet" aria-hidden="true">
          Esc, then Tab leaves the editor
        </p>
      )}
    </div>
  )
}
