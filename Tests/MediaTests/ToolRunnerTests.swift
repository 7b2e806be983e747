import Foundation
import TestKit
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct ToolRunnerTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// An engine whose `vips` is a script.
    private func engine(_ scratch: Scratch, vips script: String) throws -> MediaEngine {
        let program = try scratch.write("#!/bin/sh\n\(script)\n".utf8, to: "vips")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        var paths = scratch.tools.paths
        paths[.vips] = program.path
        return try MediaEngine(tools: MediaTools(paths: paths), folder: scratch.url("work"))
    }

    @Test(
        "TRUST-09 a killed child, too few descriptors, a full work folder: the machine is at fault, and no file",
        arguments: [
            "kill -9 $$", "kill -15 $$", "echo 'vips: Too many open files' >&2; exit 1",
            "echo 'write error: No space left on device' >&2; exit 1",
            "echo 'Internal Error: Output file write error --- out of disk space?' >&2; exit 1",
            "echo 'vips: error while loading shared libraries: libvips.so.42' >&2; exit 127",
        ]
    )
    func machine(script: String) async throws {
        let picture = try await scratch.picture(.quadrants(), "a.webp")
        let engine = try engine(scratch, vips: script)
        for work in [
            { _ = try await engine.pictures.scale(.file(picture), width: 10, height: 10) },
            { _ = try await engine.documents.pages(of: [.file(picture)], to: scratch.url("out.pdf")) },
        ] as [@Sendable () async throws -> Void] {
            await #expect {
                try await work()
            } throws: { error in
                switch error as? MediaError {
                case .storageFull: script.contains("space")
                case .unavailable: !script.contains("space")
                default: false
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
        #expect(scratch.leftovers.isEmpty)
    }

    @Test(
        "a decoder that crashes by itself, or fails without such words, has a bad file",
        arguments: ["kill -11 $$", "exit 1"]
    )
    func file(script: String) async throws {
        let picture = try await scratch.picture(.quadrants(), "a.webp")
        let engine = try engine(scratch, vips: script)
        await #expect {
            try await engine.documents.pages(of: [.file(picture)], to: scratch.url("out.pdf"))
        } throws: { error in
            switch (error as? MediaError.OfInput)?.error {
            case .damaged, .crashed: true
            default: false
            }
        }
    }

    @Test(
        "a worker that crashes fails its document alone, whatever the signal; the next one is made",
        arguments: [4, 5, 6, 7, 8, 11, 31] as [Int32]
    )
    func crash(signal: Int32) async throws {
        let picture = try await scratch.picture(.quadrants(), "a.png")
        let worker = try scratch.write("#!/bin/sh\nkill -\(signal) $$\n".utf8, to: "worker")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: worker.path)
        var paths = scratch.tools.paths
        paths[.pdfWorker] = worker.path
        let engine = try MediaEngine(tools: MediaTools(paths: paths), folder: scratch.url("work"))
        await #expect {
            try await engine.documents.pages(of: [.file(picture), .file(picture)], to: scratch.url("out.pdf"))
        } throws: { error in
            if case MediaError.crashed(.pdfWorker, signal) = error { true } else { false }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
        #expect(scratch.leftovers.isEmpty)
        try FileManager.default.removeItem(at: worker)
        try FileManager.default.copyItem(atPath: scratch.tools.path(of: .pdfWorker), toPath: worker.path)
        let summary = try await engine.documents.pages(of: [.file(picture)], to: scratch.url("out.pdf"))
        #expect(summary.pages.count == 1)
    }

    @Test("TRUST-09 a work folder in which nothing can be made is the machine's fault") func folder() async throws {
        let picture = try await scratch.picture(.quadrants(), "a.png")
        let engine = try MediaEngine(tools: scratch.tools, folder: scratch.url("work"))
        _ = try scratch.write("a file where the folder should be".utf8, to: "work")
        await #expect {
            try await engine.documents.pages(of: [.file(picture)], to: scratch.url("out.pdf"))
        } throws: { error in
            if case MediaError.unavailable = error { true } else { false }
        }
    }

    @Test("TRUST-09 in a folder without room nothing is whole, whatever the program says") func full() async throws {
        let runner = ToolRunner(tools: scratch.tools, limits: MediaLimits(), root: scratch.folder.path, logger: .quiet)
        // A file system that never has room.
        let folder = JobDirectory(path: "/proc")
        await #expect {
            _ = try await runner.run(.vips, ["--version"], in: folder)
        } throws: { error in
            if case MediaError.storageFull(let reason) = error { reason.hasPrefix("no space left") } else { false }
        }
    }

    @Test("TRUST-09 limits that this process cannot grant are lowered to its own") func limits() throws {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let limits = ChildLimits(memory: 1 << 30, processor: .seconds(1), wall: .seconds(1), openFiles: Int.max)
        let files = try #require(limits.arguments.first { $0.hasPrefix("--nofile=") }?.dropFirst(9))
        #expect(UInt64(files) == min(UInt64(Int.max), UInt64(limit.rlim_max)))
    }

    @Test("TRUST-10 work on a small picture does not wait for that on large ones") func small() async throws {
        let large = try await scratch.picture(Pixels(width: 2000, height: 1100) { _, _ in .red }, "large.png")
        let small = try await scratch.picture(.quadrants(), "small.png")
        let vips = try scratch.tools.path(of: .vips)
        let script = """
            if [ "$(wc -c <"$2")" -gt 1000 ]; then echo >started; exec sleep 30; fi
            exec \(vips) "$@"
            """
        let engine = try engine(scratch, vips: script)
        let waiting = (0..<8).map { _ in
            Task { _ = try await engine.pictures.scale(.file(large), width: 10, height: 10) }
        }
        await BoundedWait.poll(for: "as many large pictures as are worked on at a time") {
            scratch.leftovers.count {
                FileManager.default.fileExists(atPath: scratch.url("work/\($0)/started").path)
            } >= engine.limits.children
        }
        #expect(try await engine.pictures.scale(.file(small), width: 10, height: 10).width == 10)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
    }
}

@Suite struct MediaErrorInputTests {
    private func named(_ error: any Error, _ first: Int, of count: Int) -> (any Error)? {
        let part: () throws -> Void = { throw error }
        do {
            try MediaError.OfInput.naming(first, of: count, part)
            return nil
        } catch {
            return error
        }
    }

    @Test("An error of one input names its position in the whole job")
    func position() {
        let error = named(MediaError.OfInput(index: 1, error: .encrypted), 3, of: 2)
        #expect(error as? MediaError.OfInput == .init(index: 4, error: .encrypted))
    }

    @Test("An error that names no input is that of the only one, unless the machine is at fault")
    func only() {
        #expect(named(MediaError.encrypted, 3, of: 1) as? MediaError.OfInput == .init(index: 3, error: .encrypted))
        #expect(named(MediaError.encrypted, 3, of: 2) as? MediaError == .encrypted)
        for error: MediaError in [.overloaded, .toolMissing(.vips), .failed(.vips, "reason")] {
            #expect(named(error, 3, of: 1) as? MediaError == error)
        }
    }
}

@Suite struct JobDirectoryTests {
    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("TRUST-14 files of a job are its owner's only, and are removed with the job")
    func ownersOnly() async throws {
        let scratch = try Scratch()
        let path = try await JobDirectory.lend(below: scratch.url("work").path) { folder in
            let file = try folder.write(Data("private".utf8), as: "in.jpg")
            #expect(try permissions(of: folder.path) == 0o700)
            #expect(try permissions(of: file) == 0o600)
            return folder.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("TRUST-09 a folder is full if its file system has no room")
    func room() throws {
        #expect(JobDirectory(path: "/proc").isFull)
        #expect(!JobDirectory(path: try Scratch().folder.path).isFull)
    }
}

@Suite struct FinishedFileTests {
    @Test("TRUST-26 a link in place of a result is not taken, and changes nothing at the destination")
    func link() throws {
        let scratch = try Scratch()
        _ = try scratch.write("private".utf8, to: "private")
        let destination = try scratch.write("before".utf8, to: "document.pdf")
        let result = scratch.url("out.pdf")
        try FileManager.default.createSymbolicLink(at: result, withDestinationURL: scratch.url("private"))
        #expect(throws: CocoaError.self) { try FinishedFile.move(result.path, to: destination) }
        #expect(try String(contentsOf: destination, encoding: .utf8) == "before")
    }
}
