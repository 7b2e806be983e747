import Foundation
import TestKit
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct MediaToolsTests {
    private func program(_ path: URL, executable: Bool = true) throws {
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("#!/bin/sh\n".utf8).write(to: path)
        try FileManager.default.setAttributes([.posixPermissions: executable ? 0o755 : 0o644], ofItemAtPath: path.path)
    }

    @Test("programs are found on the path, the worker beside the executable first") func finding() throws {
        let scratch = try Scratch()
        try program(scratch.url("one/vips"), executable: false)
        try program(scratch.url("two/vips"))
        try program(scratch.url("two/larder-pdf-worker"))
        try program(scratch.url("bin/larder-pdf-worker"))
        try program(scratch.url("bin/larder-confine"))
        let path = "\(scratch.url("one").path):\(scratch.url("two").path)"
        let tools = MediaTools.find(searchPath: path, executable: scratch.url("bin/larder").path)
        #expect(
            tools.paths == [
                .vips: scratch.url("two/vips").path, .pdfWorker: scratch.url("bin/larder-pdf-worker").path,
                .confine: scratch.url("bin/larder-confine").path,
            ]
        )
        #expect(throws: MediaError.toolMissing(.pdftoppm)) { try tools.path(of: .pdftoppm) }
        let elsewhere = MediaTools.find(searchPath: path, executable: scratch.url("nowhere/larder").path)
        #expect(elsewhere.paths[.pdfWorker] == scratch.url("two/larder-pdf-worker").path)
    }

    @Test("a set worker is the only one, and a relative folder of the path is none") func set() throws {
        let scratch = try Scratch()
        try program(scratch.url("bin/larder-pdf-worker"))
        let set = MediaTools.find(
            searchPath: "",
            pdfWorker: scratch.url("other").path,
            executable: scratch.url("bin/larder").path
        )
        #expect(set.paths == [:])
        try program(scratch.url("other"))
        #expect(
            MediaTools.find(searchPath: "", pdfWorker: scratch.url("other").path, executable: "").paths == [
                .pdfWorker: scratch.url("other").path
            ]
        )
        #expect(MediaTools.find(searchPath: ".:bin", executable: scratch.url("x/larder").path).paths == [:])
    }

    @Test("PDF-18 every tool is tried, HEIC of iOS 18 and fonts too") func selfTest() async throws {
        let findings = try await Scratch().engine.selfTest()
        #expect(findings.map(\.tool) == MediaTool.allCases + [.vips, .vips, .pdfWorker])
        let untested = try Scratch().engine.untested()
        #expect(untested.map(\.tool) == findings.map(\.tool) && untested.map(\.ability) == findings.map(\.ability))
        for finding in findings where finding.tool != .soffice { #expect(finding.works == true, "\(finding)") }
        #expect(findings.first { $0.tool == .pdfWorker }?.detail.hasPrefix("larder-pdf-worker with qpdf ") == true)
    }

    @Test("missing programs are reported with their package") func missing() async throws {
        let findings = try await Scratch(tools: MediaTools(paths: [:])).engine.selfTest()
        #expect(findings.allSatisfy { $0.works == false })
        #expect(
            findings.first { $0.tool == .vips }?.detail
                == "missing (decoding and scaling pictures); install libvips-tools"
        )
        #expect(findings.last?.detail == "needs prlimit; install util-linux")
    }

    @Test("DIST-01 a library that the machine lacks is named with its package") func lackingLibrary() async throws {
        let words = "error while loading shared libraries: libpangocairo-1.0.so.0: cannot open shared object file"
        let folder = try TemporaryFolder()
        let worker = folder.url.appending(path: "larder-pdf-worker")
        try program(worker)
        try Data("#!/bin/sh\necho 'larder-pdf-worker: \(words)' >&2\nexit 127\n".utf8).write(to: worker)
        let tools = MediaTools(paths: Scratch.installed.paths.merging([.pdfWorker: worker.path]) { $1 })
        let glyphs = try #require(try await Scratch(tools: tools).engine.selfTest().last)
        #expect(glyphs.works == false)
        #expect(glyphs.detail.contains("\(words); install libpangocairo-1.0-0 "))
    }

    @Test("job folders of a killed Larder are removed, nothing else is") func leftovers() throws {
        let scratch = try Scratch()
        let work = scratch.url("work")
        try FileManager.default.createDirectory(
            at: work.appending(path: "job-1/deep"),
            withIntermediateDirectories: true
        )
        try FileManager.default.createDirectory(at: work.appending(path: "other"), withIntermediateDirectories: true)
        _ = try MediaEngine(tools: scratch.tools, folder: work)
        #expect(scratch.leftovers == ["other"])
    }

    @Test("a folder of a job is private and removed with the job, also when it fails") func workFolder() async throws {
        let scratch = try Scratch()
        await #expect(throws: MediaError.encrypted) {
            try await JobDirectory.lend(below: scratch.url("work").path) { folder in
                let rights = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
                #expect(rights == 0o700)
                throw MediaError.encrypted
            }
        }
        #expect(scratch.leftovers.isEmpty)
    }
}
