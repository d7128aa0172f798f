// A load generator for one server on the loopback interface, over kept connections.
//
// load PORT PATH closed CONNECTIONS SECONDS WARM OUT   each connection sends again when it has its answer
// load PORT PATH RATE   CONNECTIONS SECONDS WARM OUT   RATE requests a second, at fixed times
//
// PATH is that of a GET; `echo:N` sends N bytes and waits for N. At a fixed rate a request's time begins when it
// is due, whether a connection is free then or not: what waits for a slow server is counted (there is no
// coordinated omission that would have to be corrected afterwards). OUT gets the time of each request in ns,
// as a 64-bit number. WARM: seconds at the start that are not counted.
//
// One thread, bounded in time and in requests. Exit status 3: the server has closed a connection, or has
// answered something else than 200.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, MOST_REQUESTS = 8 << 20, ANSWER = 1 << 16 };

struct connection {
  int fd;
  int busy;
  uint64_t start;   // ns: when the request was due
  size_t have;      // bytes of the answer
  size_t wanted;    // its length with the head, when that is known
  char answer[ANSWER + 1];
};

static struct connection *connections;
static int *idle, idle_count;
static uint64_t *times;
static size_t count, counted, overdue;
static char request[1 << 16];
static size_t request_length, echo_length;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(int status, const char *what) {
  fprintf(stderr, "error: %s (after %zu requests)\n", what, count);
  exit(status);
}

static int connect_to(int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    fprintf(stderr, "error: no connection to port %d: %s\n", port, strerror(errno));
    exit(3);
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void send_request(struct connection *c, uint64_t due) {
  c->busy = 1;
  c->start = due;
  c->have = 0;
  c->wanted = echo_length;
  for (size_t sent = 0; sent < request_length;) {
    ssize_t n = send(c->fd, request + sent, request_length - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(3, "the server has closed a connection");
    sent += (size_t)n;
  }
}

// The length of the whole answer, or 0 if its head has not come yet.
static size_t length_of(struct connection *c) {
  c->answer[c->have] = 0;
  char *end = strstr(c->answer, "\r\n\r\n");
  if (!end) return 0;
  if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0) fail(3, "the server's answer is not 200");
  for (char *line = c->answer; line < end; line = strstr(line, "\r\n") + 2)
    if (strncasecmp(line, "content-length:", 15) == 0)
      return (size_t)(end + 4 - c->answer) + strtoul(line + 15, NULL, 10);
  fail(3, "an answer has no content-length");
  return 0;
}

// Reads what has come; whether the answer is whole.
static int receive(struct connection *c) {
  ssize_t n = recv(c->fd, c->answer + c->have, ANSWER - c->have, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n <= 0) fail(3, "the server has closed a connection");
  if (!c->busy) fail(3, "the server answers what nobody has asked");
  c->have += (size_t)n;
  if (!c->wanted) c->wanted = length_of(c);
  if (c->wanted > ANSWER) fail(3, "an answer is too long");
  return c->wanted && c->have >= c->wanted;
}

int main(int argc, char **argv) {
  if (argc != 8) fail(2, "PORT PATH closed|RATE CONNECTIONS SECONDS WARM OUT");
  int port = atoi(argv[1]), many = atoi(argv[4]);
  double rate = strcmp(argv[3], "closed") == 0 ? 0 : atof(argv[3]), seconds = atof(argv[5]), warm = atof(argv[6]);
  if (port < 1 || port > 65535 || many < 1 || many > MOST_CONNECTIONS || !(seconds > 0) || seconds > 3600 ||
      (rate == 0 && strcmp(argv[3], "closed") != 0) || rate < 0 || warm < 0 || warm >= seconds)
    fail(2, "a number is out of range");
  if (strncmp(argv[2], "echo:", 5) == 0) {
    echo_length = request_length = strtoul(argv[2] + 5, NULL, 10);
    if (echo_length < 1 || echo_length > ANSWER) fail(2, "echo: 1 to 65536 bytes");
    memset(request, 'x', request_length);
  } else {
    request_length = (size_t)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n", argv[2]);
    if (request_length >= sizeof request) fail(2, "the path is too long");
  }
  connections = calloc((size_t)many, sizeof *connections);
  idle = calloc((size_t)many, sizeof *idle);
  times = malloc(MOST_REQUESTS * sizeof *times);
  if (!connections || !idle || !times) fail(1, "no memory");
  prctl(PR_SET_TIMERSLACK, 1ul);

  int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
  epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
  for (int i = 0; i < many; i++) {
    connections[i].fd = connect_to(port);
    event.data.u32 = (uint32_t)i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
    idle[idle_count++] = i;
  }

  uint64_t begin = now(), end = begin + (uint64_t)(seconds * 1e9), first = begin + (uint64_t)(warm * 1e9);
  uint64_t due_count = 0, last = begin;
  struct epoll_event ready[256];
  for (uint64_t time = begin; time < end && counted < MOST_REQUESTS;) {
    // What is due by now, in its turn.
    while (idle_count > 0) {
      uint64_t due = rate > 0 ? begin + (uint64_t)((double)due_count * 1e9 / rate) : now();
      if (rate > 0 && due > time) break;
      due_count++;
      send_request(&connections[idle[--idle_count]], due);
    }
    if (rate > 0) {
      // Wakes up for the next one, or soon: the end must not be missed.
      uint64_t next = idle_count > 0 ? begin + (uint64_t)((double)due_count * 1e9 / rate) : time + 10000000;
      if (next > end) next = end;
      struct itimerspec at = {.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)}};
      timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
    }
    int n = epoll_wait(epoll, ready, 256, 100);
    if (n < 0 && errno != EINTR) fail(1, "epoll_wait");
    time = now();
    for (int i = 0; i < n; i++) {
      if (ready[i].data.u32 == UINT32_MAX) {
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) < 0) continue;
        continue;
      }
      struct connection *c = &connections[ready[i].data.u32];
      if (!receive(c)) continue;
      uint64_t done = now();
      count++;
      if (done >= first) {
        times[counted++] = done - c->start;
        last = done;
      }
      c->busy = 0;
      idle[idle_count++] = (int)ready[i].data.u32;
      if (counted >= MOST_REQUESTS) break;
    }
    time = now();
  }
  if (count == 0) fail(3, "the server has not answered at all");
  // What was due and has no answer yet has waited this long already.
  if (rate > 0) {
    uint64_t time = now();
    for (int i = 0; i < many; i++)
      if (connections[i].busy && counted < MOST_REQUESTS && connections[i].start >= first) {
        times[counted++] = time - connections[i].start;
        overdue++;
      }
    for (uint64_t due; counted < MOST_REQUESTS &&
                       (due = begin + (uint64_t)((double)due_count * 1e9 / rate)) < end; due_count++)
      if (due >= first) {
        times[counted++] = time - due;
        overdue++;
      }
  }
  FILE *out = fopen(argv[7], "wb");
  if (!out || fwrite(times, sizeof *times, counted, out) != counted || fclose(out) != 0) fail(1, "OUT cannot be written");
  printf("{\"requests\": %zu, \"counted\": %zu, \"unanswered\": %zu, \"seconds\": %.6f}\n", count, counted, overdue,
         (double)(last > first ? last - first : 1) / 1e9);
  return 0;
}
