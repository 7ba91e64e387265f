#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Swift cannot call variadic C functions. `rd_kafka_produceva` with RD_KAFKA_VTYPE_HEADER frees a header twice when the
// partition does not exist (librdkafka #4627, fixed in 2.12), so records go through producev with a whole header list.

/// Enqueues a record through a topic handle. The headers belong to librdkafka on success, and to the caller otherwise.
/// A null value or key is Kafka's null, which is not the same as empty. A timestamp of 0 is now.
static inline rd_kafka_resp_err_t crdkafka_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, const void *key, size_t key_size,
    const void *value, size_t value_size, rd_kafka_headers_t *headers, int64_t timestamp, void *opaque) {
    if (headers)
        return rd_kafka_producev(
            client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_TIMESTAMP(timestamp),
        RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}

/// One answer of the mock broker to its next request of a kind: an error, a delay in milliseconds, or both.
static inline rd_kafka_resp_err_t crdkafka_mock_push_error(
    rd_kafka_mock_cluster_t *cluster, int32_t broker, int16_t api_key, rd_kafka_resp_err_t error, int delay) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker, api_key, 1, error, delay);
}

/// The table of all configuration properties as text, to be freed; NULL if there is no memory.
static inline char *crdkafka_properties(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    rd_kafka_conf_properties_show(file);
    fclose(file);
    return text;
}

/// Names the calling thread; the kernel takes 15 bytes.
