#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Starts a daemon on an IPv4 or IPv6 socket address with a pool of threads; Swift does not import variadic functions.
/// Idle connections are closed
/// after 60 seconds. `begin` sees the request target as it was sent and gives the state that `handler` and `end` get.
static inline struct MHD_Daemon *cmicrohttpd_start(
    const struct sockaddr *address, unsigned threads, MHD_AccessHandlerCallback handler,
    void *(*begin)(void *owner, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback end, void *owner) {
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | (address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, owner,
        MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_TIMEOUT, 60u,
        MHD_OPTION_URI_LOG_CALLBACK, begin, owner,
        MHD_OPTION_NOTIFY_COMPLETED, end, owner,
        MHD_OPTION_END);
}

/// The port that the daemon listens on, 0 if it does not tell.
static inline uint16_t cmicrohttpd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}
