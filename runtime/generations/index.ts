/** The public face of the archive of generations. */

export { type ArchiveOptions, type DiskArchive, openGenerationArchive } from './archive.ts'
export { createChangedFiles, createKeptFiles } from './kept-files.ts'
