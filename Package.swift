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
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
    name: "larder",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "larder", targets: ["Larder"]),
        .executable(name: "larder-confine", targets: ["Confine"]),
        .executable(name: "larder-pdf-worker", targets: ["PDFWorker"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
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
        // The executable: commands, configuration, the one composition root.
        .executableTarget(
            name: "Larder",
            dependencies: [
                "AppInterface", "Settings", "HTTPServer", "Screens", "Upstream", "Storage", "Media", "Sandbox", "CZlib",
                "Disk", "Shop", "PDF", "Ships", "Notes",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                yams,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                hummingbird, lifecycle, logging, metrics, nioCore, nioPosix, httpTypes, grdb,
            ],
            swiftSettings: strict
        ),

        // Apps: one module each, none imports another.
        .target(
            name: "Disk",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "Storage", "HTTPCaching", "Concurrency", "Media", grdb, crypto, httpTypes,
                logging, nioCore, lifecycle,
            ],
            path: "Sources/Apps/Disk",
            swiftSettings: strict
        ),
        .target(
            name: "Shop",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "Storage", "HTTPCaching", "Media", "MediaFormats", grdb, httpTypes, logging,
            ],
            path: "Sources/Apps/Shop",
            swiftSettings: strict
        ),
        .target(
            name: "PDF",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Storage", "HTTPCaching", "Concurrency", "Media", "Upstream", grdb, crypto, httpTypes,
                logging, nioCore, lifecycle,
            ],
            path: "Sources/Apps/PDF",
            swiftSettings: strict
        ),
        .target(
            name: "Notes",
            dependencies: [
                "AppInterface", "Settings", "Screens", "Upstream", "Storage", "HTTPCaching", grdb, crypto, cryptoExtras, httpTypes, logging,
                nioCore,
            ],
            path: "Sources/Apps/Notes",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        .target(
            name: "Ships",
            dependencies: ["AppInterface", "Settings", "Screens", "Upstream", "Storage", "HTTPCaching", grdb, httpTypes, logging],
            path: "Sources/Apps/Ships",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),

        // Kit.
        .target(
            name: "AppInterface",
            dependencies: ["Settings", "Screens", "Upstream", "Storage", "Media", logging, lifecycle],
            path: "Sources/Kit/AppInterface",
            swiftSettings: strict
        ),
        .target(name: "Settings", path: "Sources/Kit/Settings", swiftSettings: strict),
        .target(
            name: "Screens",
            dependencies: [
                "HTTPServer", "Upstream", "Storage", "HTTPCaching", hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "DequeModule", package: "swift-collections"),
                nioCore, nioLocks, httpTypes, logging, lifecycle, crypto, grdb,
            ],
            path: "Sources/Kit/Screens",
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),
        // Connections and what is decided about a request before its route is known.
        .target(
            name: "HTTPServer",
            dependencies: [
                "Upstream", "HTTPCaching", "CZlib",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                nioCore, nioHTTP1, nioLocks, httpTypes, logging, metrics,
            ],
            path: "Sources/Kit/HTTPServer",
            swiftSettings: strict
        ),
        .target(
            name: "Upstream",
            dependencies: [
                "Storage", "HTTPCaching", httpTypes, nioCore, nioPosix, nioHTTP1, nioLocks, logging, metrics, grdb,
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                asyncHTTPClient,
            ],
            path: "Sources/Kit/Upstream",
            swiftSettings: strict
        ),
        .target(
            name: "Storage",
            dependencies: ["HTTPCaching", grdb, crypto, httpTypes, logging],
            path: "Sources/Kit/Storage",
            swiftSettings: strict
        ),
        // Coordination of tasks, each primitive once.
        .target(name: "Concurrency", path: "Sources/Kit/Concurrency", swiftSettings: strict),
        .target(
            name: "HTTPCaching",
            dependencies: [httpTypes],
            path: "Sources/Kit/HTTPCaching",
            swiftSettings: strict
        ),
        .target(
            name: "Media",
            dependencies: ["MediaFormats", subprocess, systemPackage, crypto],
            path: "Sources/Kit/Media",
            swiftSettings: strict
        ),
        // What the server and its worker both read: heads of pictures, descriptions of jobs.
        .target(name: "MediaFormats", path: "Sources/Kit/MediaFormats", swiftSettings: strict),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Becomes another program that sees no files but its own: every child of the server is started through it.
        .executableTarget(name: "Confine", dependencies: ["CLandlock"], swiftSettings: strict),
        .systemLibrary(name: "CLandlock"),

        // Parses photos and PDFs, one process a job, so that the server never does.
        .executableTarget(
            name: "PDFWorker",
            dependencies: ["MediaFormats", "CQPDF", "CPangoCairo", "CZlib"],
            swiftSettings: strict
        ),
        .systemLibrary(name: "CQPDF", pkgConfig: "libqpdf", providers: [.apt(["libqpdf-dev"])]),
        .systemLibrary(name: "CPangoCairo", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),

        // Simulated upstreams; knows nothing of the server it is used against.
        .target(
            name: "Sandbox",
            dependencies: [
                hummingbird, .product(name: "HummingbirdCore", package: "hummingbird"), httpTypes, nioCore, logging,
                lifecycle, crypto,
            ],
            resources: [.embedInCode("Resources")],
            swiftSettings: strict
        ),

        // System calls that fail when a test says so, for SQLite as for Larder's own functions.
        .target(name: "CFaultInjection", path: "Tests/CFaultInjection"),
        .target(
            name: "FaultKit",
            dependencies: ["CFaultInjection", "Storage", grdb],
            path: "Tests/FaultKit",
            swiftSettings: strict
        ),

        // Tests mirror Sources; Contract holds server and openapi.yaml together, EndToEnd starts the real executable.
        .testTarget(name: "ConcurrencyTests", dependencies: ["Concurrency"], swiftSettings: strict),
        .testTarget(name: "HTTPCachingTests", dependencies: ["HTTPCaching", httpTypes], swiftSettings: strict),
        .testTarget(
            name: "StorageTests",
            dependencies: ["Storage", "FaultKit", "HTTPCaching", grdb, crypto, httpTypes, logging],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SandboxTests",
            dependencies: ["Sandbox", httpTypes, nioCore, nioPosix, nioHTTP1, logging, lifecycle, asyncHTTPClient],
            swiftSettings: strict
        ),
        .testTarget(
            name: "UpstreamTests",
            dependencies: [
                "Upstream", "Storage", "HTTPCaching", crypto, httpTypes, grdb, logging, nioCore, nioPosix, nioLocks,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "Upstream", hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                httpTypes, lifecycle, logging, metrics, nioCore, nioHTTP1, nioPosix, nioLocks,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ScreensTests",
            dependencies: [
                "Screens", "HTTPServer", "Upstream", "Storage", "HTTPCaching", "CZlib", hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                httpTypes, grdb, lifecycle, logging, metrics, nioCore, nioPosix, nioLocks,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AppTestKit",
            dependencies: [
                "Screens", "HTTPServer", "Upstream", "Storage", hummingbird, hummingbirdTesting, httpTypes, nioCore, logging,
            ],
            path: "Tests/Apps/AppTestKit",
            swiftSettings: strict
        ),
        .testTarget(
            name: "DiskTests",
            dependencies: [
                "Disk", "AppTestKit", "FaultKit", "Screens", "Upstream", "Storage", "HTTPCaching", "Media", crypto,
                httpTypes, nioCore, grdb, logging,
            ],
            path: "Tests/Apps/DiskTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", "Sandbox", "AppTestKit", "Screens", "Upstream", "Storage", "HTTPCaching", "Media",
                "MediaFormats", httpTypes, nioCore, grdb, logging,
            ],
            path: "Tests/Apps/ShopTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PDFTests",
            dependencies: [
                "PDF", "AppTestKit", "Concurrency", "FaultKit", "Screens", "Upstream", "Storage", "HTTPCaching",
                "Media", httpTypes,
                nioCore, grdb, logging, lifecycle,
            ],
            path: "Tests/Apps/PDFTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", "AppTestKit", "FaultKit", "Screens", "Upstream", "Storage", "HTTPCaching", httpTypes, nioCore,
                grdb, logging,
            ],
            path: "Tests/Apps/NotesTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "MediaTests",
            dependencies: ["Media", "CZlib", subprocess, systemPackage],
            swiftSettings: strict
        ),
        .testTarget(name: "ConfineTests", dependencies: ["Confine"], swiftSettings: strict),
        .testTarget(name: "PDFWorkerTests", dependencies: ["PDFWorker", "MediaFormats"], swiftSettings: strict),
        .testTarget(
            name: "ShipsTests",
            dependencies: [
                "Ships", "AppTestKit", "HTTPServer", "Screens", "Upstream", "Storage", "HTTPCaching", hummingbird, hummingbirdTesting,
                httpTypes, nioCore, grdb, logging,
            ],
            path: "Tests/Apps/ShipsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LarderTests",
            dependencies: ["Larder", "Settings", "AppInterface", "Ships", "Upstream", logging, nioLocks],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "Larder", "HTTPServer", "Screens", "Upstream", "Sandbox", "CZlib", yams,
                asyncHTTPClient, hummingbird, logging, metrics, nioCore, nioHTTP1, nioPosix, httpTypes,
            ],
            path: "Tests/Contract",
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEnd",
            dependencies: ["Larder", nioCore, nioHTTP1, nioLocks, asyncHTTPClient, subprocess, systemPackage],
            swiftSettings: strict
        ),
    ]
)
