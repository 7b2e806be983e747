import HTTPTypes

/// The fields of a 200 as recorded in 2021; `Date` is the server's, `ETag` comes with the body.
enum SpaceXHeaders {
    static func fields(hit: Bool) -> HTTPFields {
        [
            .contentType: "application/json; charset=utf-8",
            .accessControlAllowOrigin: "*",
            .accessControlExposeHeaders: "spacex-api-cache,spacex-api-response-time",
            .cacheControl: "max-age=300",
            .name("spacex-api-cache"): hit ? "HIT" : "MISS",
            .name("spacex-api-cache-online"): "true",
            .name("spacex-api-response-time"): "0ms",
            .vary: "Accept-Encoding, Origin",
            .name("cf-cache-status"): "DYNAMIC",
            .server: "cloudflare",
        ]
    }
}
