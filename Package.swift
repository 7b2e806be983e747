// swift-tools-version: 6.2
// Every arrow of docs/architecture is a target dependency below: what is not listed cannot be imported.
import PackageDescription

/// Swift 6 language mode, warnings are errors, imports show what a file really uses.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let structuredFields: Target.Dependency = .product(
    name: "RawStructuredFieldValues",
    package: "swift-http-structured-headers"
)
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let dequeModule: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

/// Apps of your own: folders of `examples`, each with the program that serves it (docs/your-own-app.md).
let ownApps = ["weather"]

let package = Package(
    name: "larder",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "larder", targets: ["LarderMain"]),
        .executable(name: "larder-confine", targets: ["Confine"]),
        .executable(name: "larder-pdf-worker", targets: ["PDFWorker"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .executableTarget(name: "LarderMain", dependencies: ["Larder"], swiftSettings: strict),
        // Commands, configuration, the one composition root.
        .target(
            name: "Larder",
            dependencies: [
                "Disk", "Shop", "PDF", "Notes", "Ships", "Sandbox", "Screens", "Server", "Upstream", "Cluster",
                "Storage", "HTTP", "Media", "Concurrency", "JSONValues", "CMalloc", "CZlib",
                argumentParser,
                grdb, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, metrics, nioCore, nioPosix,
                lifecycle, .product(name: "UnixSignals", package: "swift-service-lifecycle"), yams,
            ],
            swiftSettings: strict
        ),

        // Apps: one module each, none imports another.
        .target(
            name: "Disk",
            dependencies: [
                "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "Concurrency", "JSONValues", crypto, grdb,
                httpTypes, logging, nioCore, lifecycle,
            ],
            path: "Sources/Apps/Disk",
            exclude: ["contract.yaml"],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        .target(
            name: "Shop",
            dependencies: [
                "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "Concurrency",
                "JSONValues", grdb, httpTypes, logging,
            ],
            path: "Sources/Apps/Shop",
            exclude: ["contract.yaml"],
            swiftSettings: strict
        ),
        .target(
            name: "PDF",
            dependencies: [
                "Screens", "Server", "Cluster", "Storage", "HTTP", "Media", "Concurrency", "JSONValues", grdb,
                httpTypes, logging, lifecycle,
            ],
            path: "Sources/Apps/PDF",
            exclude: ["contract.yaml"],
            swiftSettings: strict
        ),
        .target(
            name: "Notes",
            dependencies: [
                "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Concurrency", "JSONValues", "CPlaces", crypto,
                cryptoExtras, grdb, httpTypes, nioCore, lifecycle,
            ],
            path: "Sources/Apps/Notes",
            exclude: ["contract.yaml"],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        .target(
            name: "Ships",
            dependencies: [
                "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "Concurrency", grdb, httpTypes, logging,
            ],
            path: "Sources/Apps/Ships",
            exclude: ["contract.yaml"],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),

        // Kit.
        // Routes, envelope, problems, sessions, events, the pages; what an app says of itself and is offered.
        .target(
            name: "Screens",
            dependencies: [
                "Server", "Upstream", "Cluster", "Storage", "HTTP", "Media", "MediaFormats", "Concurrency",
                "JSONValues", "CContract", "CWebAssets", "CZlib", crypto,
                dequeModule, grdb, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, nioLocks, nioCore, lifecycle,
            ],
            path: "Sources/Kit/Screens",
            exclude: ["contract.yaml", "Web/contract.yaml"],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        // Connections, TLS, the response cache, and decisions about a request before its route is known.
        .target(
            name: "Server",
            dependencies: [
                "HTTP", "Concurrency", "CZlib", .product(name: "CoreMetrics", package: "swift-metrics"), crypto,
                dequeModule, httpTypes,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, metrics, nioCore, nioHPACK,
                nioHTTP1, nioHTTP2, .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"), nioSSL,
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            path: "Sources/Kit/Server",
            swiftSettings: strict
        ),
        // The only way out: client, health, reads through the store, outbox, mounts.
        .target(
            name: "Upstream",
            dependencies: [
                "Storage", "HTTP", "Concurrency", asyncHTTPClient, crypto, grdb, httpTypes, logging, metrics, nioCore,
                nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Sources/Kit/Upstream",
            swiftSettings: strict
        ),
        // PostgreSQL, for the data that several servers share, and the journal that keeps their SQLite files alike.
        .target(
            name: "Cluster",
            dependencies: ["Storage", "Concurrency", "CPQ", "CSQLiteSession", crypto, grdb, logging, metrics, nioCore],
            path: "Sources/Kit/Cluster",
            swiftSettings: strict
        ),
        // The data directory: SQLite, blobs, sealed secrets, cached responses, text search, backups.
        .target(
            name: "Storage",
            dependencies: [
                "HTTP", "Concurrency", "CStemmer", "CZlib", crypto, grdb, sqlite, httpTypes, logging, nioCore,
            ],
            path: "Sources/Kit/Storage",
            swiftSettings: strict
        ),
        // The grammar of HTTP, and a cache's decisions by it.
        .target(
            name: "HTTP",
            dependencies: [httpTypes, structuredFields],
            path: "Sources/Kit/HTTP",
            swiftSettings: strict
        ),
        // Coordination of tasks, the clock, and how long data holds. Apart from Storage, so that server and media
        // work link no SQLite.
        .target(
            name: "Concurrency",
            dependencies: [dequeModule, nioCore],
            path: "Sources/Kit/Concurrency",
            swiftSettings: strict
        ),
        .target(
            name: "Media",
            dependencies: ["MediaFormats", "Concurrency", crypto, logging, subprocess, systemPackage],
            path: "Sources/Kit/Media",
            swiftSettings: strict
        ),
        // Values that server and worker share: heads of pictures, descriptions of jobs.
        .target(name: "MediaFormats", path: "Sources/Kit/MediaFormats", swiftSettings: strict),
        // JSON texts and values, which server, sandbox and tests read and write.
        .target(name: "JSONValues", path: "Sources/Kit/JSONValues", swiftSettings: strict),

        // The files of the pages as bytes of the program.
        .target(name: "CWebAssets", exclude: ["site"]),
        // The places that positions are named after, as bytes of the program.
        .target(name: "CPlaces", exclude: ["places.txt"]),
        // The texts of the contract and openapi-sandbox.yaml as bytes of the program.
        .target(name: "CContract"),
        .systemLibrary(name: "CMalloc"),
        // libpq, opened at the first connection: neither its headers nor the library is needed to build.
        .target(name: "CPQ"),
        // SQLite's session extension, whose declarations the module of GRDB leaves out.
        .target(name: "CSQLiteSession", linkerSettings: [.linkedLibrary("sqlite3")]),
        // The stems of words. It has no file for pkg-config.
        .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Becomes another program that sees no files but its own: every child of the server is started through it.
        .executableTarget(name: "Confine", dependencies: ["CConfine"], swiftSettings: strict),
        .systemLibrary(name: "CConfine"),

        // Parses photos and PDFs, one process a job, so that the server never does.
        .executableTarget(
            name: "PDFWorker",
            dependencies: ["MediaFormats", "CZlib", "CJPEGCheck", "CQPDF", "CQPDFCheck", "CPangoCairo"],
            swiftSettings: strict
        ),
        .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
        .target(name: "CJPEGCheck", dependencies: ["CJPEG"]),
        .systemLibrary(name: "CQPDF", pkgConfig: "libqpdf", providers: [.apt(["libqpdf-dev"])]),
        .target(name: "CQPDFCheck", dependencies: ["CQPDF"]),
        // Larder's own declarations of pango and cairo, which are opened when a text is drawn.
        .target(name: "CPangoCairo"),

        // Simulated upstreams; knows nothing of the server it is used against.
        .target(
            name: "Sandbox",
            dependencies: [
                "CContract", "CZlib", "JSONValues", crypto, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, nioCore, lifecycle, yams,
            ],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),

        // System calls that fail when a test says so, for SQLite as for Larder's own functions.
        .target(name: "CFaultInjection", path: "Tests/CFaultInjection"),
        // Shared by tests: clock, gates, scripted upstreams, faults, harness of the apps, clients, running servers.
        .target(
            name: "TestKit",
            dependencies: [
                "Screens", "Server", "Upstream", "Cluster", "Storage", "HTTP", "Media", "Concurrency", "JSONValues",
                "CFaultInjection", "CZlib", asyncHTTPClient, grdb, httpTypes, hummingbird, hummingbirdTesting, logging,
                nioLocks, nioCore, nioHTTP1, nioPosix, nioSSL, subprocess, systemPackage,
            ],
            path: "Tests/Kit",
            swiftSettings: strict
        ),

        // Tests mirror Sources; LarderTests hold server and openapi.yaml together, EndToEnd starts the real executable.
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", httpTypes], swiftSettings: strict),
        // With Concurrency and Cluster.
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Cluster", "Storage", "HTTP", "Concurrency", "TestKit", crypto, grdb, httpTypes, logging,
                nioCore,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "UpstreamTests",
            dependencies: [
                "Upstream", "Storage", "HTTP", "Concurrency", "TestKit", crypto, grdb, httpTypes, logging, nioLocks,
                nioCore, nioPosix,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Server", "HTTP", "Concurrency", "TestKit",
                .product(name: "CoreMetrics", package: "swift-metrics"), httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, metrics, nioLocks, nioCore,
                .product(name: "NIOEmbedded", package: "swift-nio"), nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
                lifecycle,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ScreensTests",
            dependencies: [
                "Screens", "Server", "Upstream", "Cluster", "Storage", "HTTP", "Concurrency", "JSONValues", "TestKit",
                .product(name: "CoreMetrics", package: "swift-metrics"), grdb, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, nioLocks, nioCore,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // With the programs that Media starts.
        .testTarget(
            name: "MediaTests",
            dependencies: [
                "Media", "MediaFormats", "Confine", "PDFWorker", "CConfine", "CZlib", "TestKit", subprocess,
                systemPackage,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "JSONValues", "Sandbox", "TestKit", asyncHTTPClient, httpTypes, logging, nioCore, nioHTTP1, nioPosix,
                lifecycle,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DiskTests",
            dependencies: [
                "Disk", "Sandbox", "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "Concurrency",
                "JSONValues", "TestKit", crypto, grdb, httpTypes, nioCore,
            ],
            path: "Tests/Apps/DiskTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", "Sandbox", "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "MediaFormats",
                "Concurrency", "TestKit", grdb, httpTypes, logging, nioCore,
            ],
            path: "Tests/Apps/ShopTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PDFTests",
            dependencies: [
                "PDF", "Screens", "Cluster", "Storage", "HTTP", "Media", "Concurrency", "TestKit", grdb, httpTypes,
                logging, nioCore, lifecycle,
            ],
            path: "Tests/Apps/PDFTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Concurrency", "TestKit", grdb,
                httpTypes, logging, nioCore, lifecycle,
            ],
            path: "Tests/Apps/NotesTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ShipsTests",
            dependencies: [
                "Ships", "Screens", "Upstream", "Cluster", "Storage", "HTTP", "Media", "MediaFormats", "Concurrency",
                "TestKit", grdb, httpTypes, logging,
            ],
            path: "Tests/Apps/ShipsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LarderTests",
            dependencies: [
                "Larder", "weather", "Ships", "Sandbox", "Screens", "Server", "Upstream", "Cluster", "Storage",
                "Concurrency", "JSONValues", "TestKit", argumentParser, asyncHTTPClient, grdb, httpTypes, hummingbird,
                hummingbirdTesting, lifecycle, logging, metrics, nioLocks, nioCore, nioHTTP1, subprocess, yams,
            ],
            exclude: ["Contract/strict.yaml"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEnd",
            dependencies: ["TestKit", asyncHTTPClient, grdb, nioCore, nioHTTP1, subprocess],
            exclude: ["EarlierBuilds"],
            swiftSettings: strict
        ),
    ]
        + ownApps.map {
            .executableTarget(
                name: $0,
                dependencies: ["Larder", "Screens"],
                path: "examples/\($0)",
                resources: [.embedInCode("upstream.yaml")],
                swiftSettings: strict
            )
        },
    cxxLanguageStandard: .cxx17
)
