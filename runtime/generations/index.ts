/** The public face of what is kept of generations. */

export { type ArchiveOptions, type DiskArchive, openGenerationArchive } from './archive.ts'
export { createKeptFiles } from './kept-files.ts'
