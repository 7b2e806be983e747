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
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0"),
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
                "Disk", "Shop", "PDF", "Notes", "Ships", "AppInterface", "Settings", "Screens", "HTTPServer",
                "Certificates", "Upstream", "Proxy", "ResponseStore", "Backup", "Database", "Freshness", "Concurrency",
                "HTTPSemantics", "Journal", "Media", "PrivateFiles", "QRCodes", "SharedStore",
                "CContract", "CMalloc", "CZlib", "JSONValues", "Sandbox", "Web", argumentParser,
                .product(name: "Configuration", package: "swift-configuration"), grdb, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, metrics, nioCore, nioPosix,
                lifecycle, .product(name: "UnixSignals", package: "swift-service-lifecycle"), yams,
            ],
            swiftSettings: strict
        ),

        // Apps: one module each, none imports another.
        .target(
            name: "Disk",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "Proxy", "ResponseStore", "Database", "TextSearch",
                "Freshness", "Journal", "SharedStore", "Concurrency", "HTTPSemantics", "HTTPCaching", "Media", crypto,
                grdb, httpTypes, logging, nioCore, lifecycle,
            ],
            path: "Sources/Apps/Disk",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        .target(
            name: "Shop",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "Freshness",
                "Concurrency", "HTTPSemantics", "HTTPCaching", "Journal", "Media", "MediaFormats", grdb, httpTypes,
                logging,
            ],
            path: "Sources/Apps/Shop",
            swiftSettings: strict
        ),
        .target(
            name: "PDF",
            dependencies: [
                "AppInterface", "Settings", "Screens", "HTTPServer", "Database", "TextSearch", "Freshness",
                "Concurrency", "HTTPSemantics", "Journal", "Media", grdb, httpTypes, logging, lifecycle,
            ],
            path: "Sources/Apps/PDF",
            swiftSettings: strict
        ),
        .target(
            name: "Notes",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "TextSearch",
                "Freshness", "HTTPSemantics", "HTTPCaching", "Journal", crypto, cryptoExtras, grdb, httpTypes, logging,
                nioCore, lifecycle,
            ],
            path: "Sources/Apps/Notes",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        .target(
            name: "Ships",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "Freshness",
                "HTTPCaching", "Journal", grdb, httpTypes, logging,
            ],
            path: "Sources/Apps/Ships",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),

        // Kit.
        // What an app says of itself, and what the server offers to it.
        .target(
            name: "AppInterface",
            dependencies: [
                "Settings", "Screens", "Upstream", "ResponseStore", "SharedStore", "Journal", "Database", "TextSearch",
                "Freshness", "Media", crypto, grdb, httpTypes, logging, lifecycle,
            ],
            path: "Sources/Kit/AppInterface",
            swiftSettings: strict
        ),
        // JSON texts and values, which server, sandbox and tests read and write.
        .target(name: "JSONValues", path: "Sources/Kit/JSONValues", swiftSettings: strict),
        // Settings as they are declared and read; where they are set is the executable's business.
        .target(name: "Settings", path: "Sources/Kit/Settings", swiftSettings: strict),
        .target(
            name: "Screens",
            dependencies: [
                "HTTPServer", "Upstream", "Proxy", "ResponseStore", "Database", "Freshness", "Concurrency",
                "HTTPSemantics", "HTTPCaching", "JSONValues", "MediaFormats", "PrivateFiles", "QRCodes", "Journal",
                "SharedStore", "CZlib", crypto,
                .product(name: "DequeModule", package: "swift-collections"), grdb, httpTypes, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, nioLocks, nioCore, lifecycle,
            ],
            path: "Sources/Kit/Screens",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        // Connections, the response cache, and what is decided about a request before its route is known.
        .target(
            name: "HTTPServer",
            dependencies: [
                "Freshness", "HTTPSemantics", "CZlib", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "DequeModule", package: "swift-collections"), httpTypes,
                .product(name: "HummingbirdCore", package: "hummingbird"), logging, metrics, nioCore, nioHPACK,
                nioHTTP1, nioHTTP2, .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"), nioSSL,
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            path: "Sources/Kit/HTTPServer",
            swiftSettings: strict
        ),
        // Certificates of TLS: read, checked, made.
        .target(
            name: "Certificates",
            dependencies: [
                "PrivateFiles", nioCore, nioSSL, .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"), crypto,
            ],
            path: "Sources/Kit/Certificates",
            swiftSettings: strict
        ),
        // Files that only their owner reads, complete or not there.
        .target(name: "PrivateFiles", path: "Sources/Kit/PrivateFiles", swiftSettings: strict),
        // Texts that a camera reads.
        .target(name: "QRCodes", path: "Sources/Kit/QRCodes", swiftSettings: strict),
        .target(
            name: "Upstream",
            dependencies: [
                "ResponseStore", "Database", "Freshness", "Concurrency", "HTTPSemantics", "HTTPCaching",
                asyncHTTPClient, crypto, grdb, httpTypes, logging, metrics, nioCore, nioHTTP1, nioPosix,
                nioSSL,
            ],
            path: "Sources/Kit/Upstream",
            swiftSettings: strict
        ),
        // Raw mounts: a caching reverse proxy on the client of Upstream.
        .target(
            name: "Proxy",
            dependencies: [
                "Upstream", "ResponseStore", "Database", "Freshness", "Concurrency", "HTTPSemantics", "HTTPCaching",
                grdb, httpTypes, logging, nioCore,
            ],
            path: "Sources/Kit/Proxy",
            swiftSettings: strict
        ),
        // Cached responses and page lists: budget, eviction, inspection, purge.
        .target(
            name: "ResponseStore",
            dependencies: ["Database", "Freshness", "HTTPCaching", crypto, grdb, httpTypes, logging, nioCore],
            path: "Sources/Kit/ResponseStore",
            swiftSettings: strict
        ),
        // Copies of a data directory that is in use, and their way back.
        .target(
            name: "Backup",
            dependencies: ["Database", crypto, grdb],
            path: "Sources/Kit/Backup",
            swiftSettings: strict
        ),
        // SQLite, blobs, scratch files, sealed secrets, the data directory.
        .target(
            name: "Database",
            dependencies: ["Concurrency", "CZlib", crypto, grdb, sqlite, logging],
            path: "Sources/Kit/Database",
            swiftSettings: strict
        ),
        // PostgreSQL, for what several servers share.
        .target(
            name: "SharedStore",
            dependencies: ["Concurrency", "Freshness", "CPQ", logging, nioCore],
            path: "Sources/Kit/SharedStore",
            swiftSettings: strict
        ),
        // The servers' SQLite files are kept alike by changesets in PostgreSQL.
        .target(
            name: "Journal",
            dependencies: [
                "Database", "Freshness", "SharedStore", "Concurrency", "CSQLiteSession", crypto, grdb, logging,
                nioCore,
            ],
            path: "Sources/Kit/Journal",
            swiftSettings: strict
        ),
        // What texts are found by, and the index of it.
        .target(
            name: "TextSearch",
            dependencies: ["Database", grdb],
            path: "Sources/Kit/TextSearch",
            swiftSettings: strict
        ),
        // Where data comes from and how long it holds: what store, upstream and screens say to each other.
        .target(
            name: "Freshness",
            dependencies: ["HTTPCaching", nioCore],
            path: "Sources/Kit/Freshness",
            swiftSettings: strict
        ),
        // Coordination of tasks, each primitive once.
        .target(name: "Concurrency", dependencies: [nioCore], path: "Sources/Kit/Concurrency", swiftSettings: strict),
        // The grammar of HTTP, once; what a cache decides by it.
        .target(
            name: "HTTPSemantics",
            dependencies: [httpTypes, structuredFields],
            path: "Sources/Kit/HTTPSemantics",
            swiftSettings: strict
        ),
        .target(
            name: "HTTPCaching",
            dependencies: ["HTTPSemantics", httpTypes],
            path: "Sources/Kit/HTTPCaching",
            swiftSettings: strict
        ),
        .target(
            name: "Media",
            dependencies: ["Concurrency", "MediaFormats", crypto, logging, subprocess, systemPackage],
            path: "Sources/Kit/Media",
            swiftSettings: strict
        ),
        // What the server and its worker both read: heads of pictures, descriptions of jobs.
        .target(name: "MediaFormats", path: "Sources/Kit/MediaFormats", swiftSettings: strict),
        // The front end: its pages, and its files as bytes of the program.
        .target(
            name: "Web",
            dependencies: ["Screens", "Freshness", "HTTPSemantics", "CWebAssets", crypto, httpTypes],
            swiftSettings: strict
        ),
        .target(name: "CWebAssets", exclude: ["site"]),
        // openapi.yaml and openapi-sandbox.yaml as bytes of the program.
        .target(name: "CContract"),
        .systemLibrary(name: "CMalloc"),
        // libpq, opened at the first connection: neither its headers nor the library is needed to build.
        .target(name: "CPQ"),
        // SQLite's session extension, whose declarations the module of GRDB leaves out.
        .target(name: "CSQLiteSession", linkerSettings: [.linkedLibrary("sqlite3")]),
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
        // What tests share: clock, gates, scripted upstreams, harness of the apps, clients, running servers.
        .target(
            name: "TestKit",
            dependencies: [
                "AppInterface", "Settings", "Screens", "HTTPServer", "Upstream", "Proxy", "ResponseStore", "Database",
                "SharedStore", "Journal", "Freshness", "HTTPSemantics", "HTTPCaching", "Media", "Certificates",
                "CZlib", asyncHTTPClient, grdb, httpTypes, hummingbird, hummingbirdTesting, logging, nioLocks, nioCore,
                nioHTTP1, nioPosix, nioSSL, subprocess, systemPackage,
            ],
            path: "Tests/Kit",
            swiftSettings: strict
        ),
        .target(
            name: "FaultKit",
            dependencies: ["ResponseStore", "Database", "CFaultInjection", "TestKit", grdb, logging],
            path: "Tests/FaultKit",
            swiftSettings: strict
        ),

        // Tests mirror Sources; Contract holds server and openapi.yaml together, EndToEnd starts the real executable.
        .testTarget(
            name: "ConcurrencyTests",
            dependencies: ["Upstream", "Freshness", "Concurrency", "TestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HTTPSemanticsTests",
            dependencies: ["Upstream", "Freshness", "Concurrency", "HTTPSemantics", httpTypes],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HTTPCachingTests",
            dependencies: ["HTTPSemantics", "HTTPCaching", httpTypes],
            swiftSettings: strict
        ),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "ResponseStore", "Backup", "Database", "TextSearch", "HTTPCaching", "TestKit", "FaultKit", crypto, grdb,
                httpTypes,
                logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SharedStoreTests",
            dependencies: ["SharedStore", "Freshness", "TestKit", logging],
            swiftSettings: strict
        ),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Journal", "SharedStore", "Database", "Freshness", "Concurrency", "TestKit", grdb, nioCore],
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
            name: "UpstreamTests",
            dependencies: [
                "Upstream", "ResponseStore", "Database", "Freshness", "Concurrency", "HTTPCaching", "TestKit", crypto,
                grdb, httpTypes, logging, nioLocks, nioCore, nioPosix,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Upstream", "Proxy", "ResponseStore", "Database", "Freshness", "Concurrency", "HTTPSemantics",
                "HTTPCaching", "TestKit", "FaultKit", grdb, httpTypes, logging, nioLocks, nioCore, nioPosix,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "Freshness", "TestKit",
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
                "Screens", "AppInterface", "HTTPServer", "Upstream", "Proxy", "ResponseStore", "Database", "Freshness",
                "Concurrency", "HTTPSemantics", "HTTPCaching", "JSONValues", "PrivateFiles", "QRCodes", "Journal",
                "SharedStore", "TestKit", .product(name: "CoreMetrics", package: "swift-metrics"),
                grdb, httpTypes, hummingbird, .product(name: "HummingbirdCore", package: "hummingbird"), logging,
                nioLocks, nioCore, .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "PrivateFilesTests", dependencies: ["PrivateFiles", "TestKit"], swiftSettings: strict),
        .testTarget(name: "QRCodesTests", dependencies: ["QRCodes"], swiftSettings: strict),
        .testTarget(name: "CertificatesTests", dependencies: ["Certificates", "TestKit"], swiftSettings: strict),
        .testTarget(
            name: "WebTests",
            dependencies: ["Screens", "Web", "TestKit", httpTypes],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DiskTests",
            dependencies: [
                "Disk", "AppInterface", "Settings", "Screens", "Upstream", "Proxy", "ResponseStore", "Database",
                "TextSearch", "Freshness", "Journal", "SharedStore", "Concurrency", "HTTPSemantics", "JSONValues",
                "Media", "Sandbox", "TestKit", "FaultKit", crypto, grdb, httpTypes, nioCore,
            ],
            path: "Tests/Apps/DiskTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "Freshness",
                "HTTPSemantics", "Journal", "Media", "MediaFormats", "Sandbox", "TestKit", "FaultKit", grdb, httpTypes,
                logging, nioCore,
            ],
            path: "Tests/Apps/ShopTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PDFTests",
            dependencies: [
                "PDF", "AppInterface", "Settings", "Screens", "ResponseStore", "Database", "Freshness", "Concurrency",
                "Journal", "Media", "SharedStore", "TestKit", "FaultKit", grdb, httpTypes, logging, nioCore, lifecycle,
            ],
            path: "Tests/Apps/PDFTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "TextSearch",
                "Freshness", "HTTPSemantics", "Journal", "SharedStore", "TestKit", "FaultKit", grdb, httpTypes, logging,
                nioCore, lifecycle,
            ],
            path: "Tests/Apps/NotesTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "MediaTests",
            dependencies: ["Media", "CZlib", "TestKit", subprocess, systemPackage],
            swiftSettings: strict
        ),
        .testTarget(name: "ConfineTests", dependencies: ["CConfine", "Confine", "TestKit"], swiftSettings: strict),
        .testTarget(name: "PDFWorkerTests", dependencies: ["MediaFormats", "PDFWorker"], swiftSettings: strict),
        .testTarget(
            name: "ShipsTests",
            dependencies: [
                "Ships", "AppInterface", "Settings", "Screens", "Upstream", "ResponseStore", "Database", "Freshness",
                "Journal", "TestKit", "FaultKit", grdb, httpTypes, logging,
            ],
            path: "Tests/Apps/ShipsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LarderTests",
            dependencies: [
                "Larder", "weather", "Ships", "AppInterface", "Settings", "Screens", "HTTPServer", "Certificates",
                "Upstream", "ResponseStore", "Database", "Freshness", "Concurrency", "JSONValues", "QRCodes",
                "Sandbox", "SharedStore", "TestKit", argumentParser, grdb, httpTypes, hummingbird, hummingbirdTesting,
                lifecycle,
                logging, nioLocks,
                nioCore,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "Larder", "Settings", "Screens", "HTTPServer", "Upstream", "Sandbox", "Web", "TestKit",
                "FaultKit", asyncHTTPClient, grdb, httpTypes, hummingbird, logging, metrics, nioCore, nioHTTP1,
                subprocess, yams,
            ],
            path: "Tests/Contract",
            exclude: ["strict.yaml"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEnd",
            dependencies: ["TestKit", asyncHTTPClient, grdb, nioCore, nioHTTP1, subprocess],
            swiftSettings: strict
        ),
    ]
        + ownApps.map {
            .executableTarget(
                name: $0,
                dependencies: ["Larder", "AppInterface", "Screens"],
                path: "examples/\($0)",
                resources: [.embedInCode("upstream.yaml")],
                swiftSettings: strict
            )
        },
    cxxLanguageStandard: .cxx17
)
