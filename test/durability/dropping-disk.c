/*
 * Is preloaded (LD_PRELOAD) to make the files below REVEILLE_DISK_ROOT behave as on a disk that loses writes.
 *
 * The folder REVEILLE_DISK_STATE holds for each file, by its inode and the time it was made, what is on the disk (FILE.data) and the state of
 * each page (FILE.map: clean, dirty or lost). Writes go to the file, which is the cache, and make pages dirty; fsync takes them to
 * the disk. While STATE/failing exists, fsync reports EIO once and its pages are clean without being on the disk. A page
 * that was never on the disk before is lost for good then, however often it is written again, as ext4 leaves its extent
 * unwritten. When STATE/evict is found, what the cache holds of clean pages is replaced by what is on the disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
enum { CLEAN, DIRTY, LOST };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static ssize_t real_pwrite(int fd, const void *buffer, size_t size, off_t at) {
  static ssize_t (*call)(int, const void *, size_t, off_t);
  if (!call) call = next("pwrite64");
  return call(fd, buffer, size, at);
}

/* Whether the path is a file of the disk. The index of the log is mapped into memory and never synced. */
static int is_path_ours(const char *path) {
  const char *root = getenv("REVEILLE_DISK_ROOT");
  size_t length = strlen(path);
  if (!root || strncmp(path, root, strlen(root)) != 0) return 0;
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int is_ours(int fd, struct stat *found) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0 || path[0] != '/') return 0;
  path[length] = 0;
  return is_path_ours(path) && fstat(fd, found) == 0 && S_ISREG(found->st_mode);
}

static void state_path(char *path, const char *name) {
  snprintf(path, PATH_MAX, "%s/%s", getenv("REVEILLE_DISK_STATE"), name);
}

/* The number of a deleted file may be given to another, so the time of birth is part of the name. */
static int state_file(int fd, const char *kind) {
  char name[96], path[PATH_MAX];
  struct statx found;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &found) != 0) return -1;
  long long born = found.stx_btime.tv_sec * 1000000000LL + found.stx_btime.tv_nsec;
  snprintf(name, sizeof name, "%llu-%lld.%s", (unsigned long long)found.stx_ino, born, kind);
  state_path(path, name);
  return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static int is_asked(const char *what) {
  char path[PATH_MAX];
  state_path(path, what);
  return access(path, F_OK) == 0;
}

static char state_of(int map, off_t page) {
  char state = CLEAN;
  return pread(map, &state, 1, page) == 1 ? state : CLEAN;
}

static void set_state(int map, off_t page, char state) { real_pwrite(map, &state, 1, page); }

static void made_dirty(int fd, off_t at, ssize_t size) {
  int map = state_file(fd, "map");
  for (off_t page = at / PAGE; page * PAGE < at + size; page++)
    if (state_of(map, page) != LOST) set_state(map, page, DIRTY);
  close(map);
}

/* Copies one page, and zeros where the source ends before it, up to the size of the target. */
static void copy_page(int from, int to, off_t page, off_t end) {
  char bytes[PAGE] = {0};
  off_t at = page * PAGE;
  if (at >= end) return;
  if (pread(from, bytes, PAGE, at) < 0) return;
  real_pwrite(to, bytes, end - at < PAGE ? end - at : PAGE, at);
}

static void evict_file(const char *path) {
  struct stat found;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
    int map = state_file(fd, "map"), data = state_file(fd, "data");
    for (off_t page = 0; page * PAGE < found.st_size; page++)
      if (state_of(map, page) != DIRTY) copy_page(data, fd, page, found.st_size);
    close(map);
    close(data);
  }
  close(fd);
}

static void evict(void) {
  static const char *const names[] = {"reveille.db", "reveille.db-wal"};
  char path[PATH_MAX];
  if (!is_asked("evict")) return;
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/data/%s", getenv("REVEILLE_DISK_ROOT"), names[i]);
    evict_file(path);
  }
  state_path(path, "evict");
  unlink(path);
}

/* A descriptor that may only write cannot be read from. */
static int readable(int fd) {
  char link[64];
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY) return fd;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return open(link, O_RDONLY | O_CLOEXEC);
}

static int sync_file(int fd, const struct stat *found) {
  struct stat durable;
  int map = state_file(fd, "map"), data = state_file(fd, "data");
  int fails = is_asked("failing"), lost = 0, from = readable(fd);
  fstat(data, &durable);
  for (off_t page = 0; page * PAGE < found->st_size; page++) {
    if (state_of(map, page) != DIRTY) continue;
    if (!fails) copy_page(from, data, page, found->st_size);
    else lost = 1;
    set_state(map, page, fails && page * PAGE >= durable.st_size ? LOST : CLEAN);
  }
  if (!lost) (void)!ftruncate(data, found->st_size);
  close(map);
  close(data);
  if (from != fd) close(from);
  if (!lost) return 0;
  errno = EIO;
  return -1;
}

static int synced(int fd, const char *name) {
  struct stat found;
  int (*call)(int) = next(name);
  if (!is_ours(fd, &found)) return call(fd);
  pthread_mutex_lock(&lock);
  evict();
  int result = sync_file(fd, &found);
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

ssize_t pwrite64(int fd, const void *buffer, size_t size, off_t at) {
  struct stat found;
  if (!is_ours(fd, &found)) return real_pwrite(fd, buffer, size, at);
  pthread_mutex_lock(&lock);
  evict();
  ssize_t written = real_pwrite(fd, buffer, size, at);
  if (written > 0) made_dirty(fd, at, written);
  pthread_mutex_unlock(&lock);
  return written;
}
ssize_t pwrite(int fd, const void *buffer, size_t size, off_t at) { return pwrite64(fd, buffer, size, at); }

ssize_t write(int fd, const void *buffer, size_t size) {
  static ssize_t (*call)(int, const void *, size_t);
  struct stat found;
  if (!call) call = next("write");
  if (!is_ours(fd, &found)) return call(fd, buffer, size);
  pthread_mutex_lock(&lock);
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t written = call(fd, buffer, size);
  if (written > 0) made_dirty(fd, at, written);
  pthread_mutex_unlock(&lock);
  return written;
}

/* The journal of the file system goes on: sizes and names are on the disk at once. */
int ftruncate64(int fd, off_t size) {
  struct stat found, durable;
  int (*call)(int, off_t) = next("ftruncate64");
  if (is_ours(fd, &found)) {
    int data = state_file(fd, "data");
    if (fstat(data, &durable) == 0 && durable.st_size > size) (void)!call(data, size);
    close(data);
  }
  return call(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
