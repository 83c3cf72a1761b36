/** Declares the route by which a mapping that was tried is saved in a mapping file. */

import { Type } from '@reveille/engine/schema'
import type { Routes } from './declaration.ts'
import { diagnostic, dryReload } from './records.ts'
import { optional } from './schema.ts'

/** A test may hold a payload of a mebibyte. */
const maxSavedBytes = 2_200_000

const saved = Type.Object(
  {
    file: Type.String({ description: 'Its name from the folder of mapping files.' }),
    saved: Type.Boolean({ description: 'True if the file was written.' }),
    ...optional({
      digest: Type.String({ description: 'The SHA-256 of what the file held before. Absent: it is new.' }),
      before: Type.String({ description: 'Content of the file before, without secrets.' }),
      after: Type.String({ description: 'Its new content, or that of a dry run.' }),
      diagnostics: Type.Array(diagnostic, { description: 'Why the mapping does not compile by itself.' }),
      reload: dryReload.properties.reload,
      shadow: dryReload.properties.shadow,
    }),
  },
  { $id: 'SavedMapping' },
)

export const mappingFileRoutes = {
  saveMapping: {
    method: 'POST',
    path: '/mappings',
    needs: 'configure',
    summary:
      'Saves a mapping in a mapping file if all files with it would go live, or says what that would change.',
    query: optional({
      dryRun: Type.Boolean({ description: 'True to write nothing and compare stored requests.' }),
    }),
    maxBodyBytes: maxSavedBytes,
    body: Type.Object(
      {
        file: Type.String({
          description: 'A YAML file in the folder of mapping files: `github.yaml`.',
          pattern: '^(?:\\w[\\w.-]*/){0,8}\\w[\\w.-]*\\.ya?ml$',
          maxLength: 200,
          expects: 'the name of a YAML file such as github.yaml or team/github.yaml',
        }),
        mapping: Type.String({
          description:
            'A mapping, a list of them or a mapping file. One with the same `id` in the file is replaced.',
        }),
        ...optional({
          test: Type.String({
            description: 'A mapping file with `tests`. One of the same `name` is replaced.',
          }),
          digest: Type.String({
            description:
              'That of a dry run. Absent: the file must not exist. A file that has changed is refused.',
          }),
        }),
      },
      { additionalProperties: false },
    ),
    answers: { 200: saved, 409: saved },
  },
} satisfies Routes
