import Foundation
import Testing

@testable import Media

@Suite struct OfficeConverterTests {
    /// A stand-in for LibreOffice: what matters here is how it is called and what is made of its results.
    private func engine(_ script: String) throws -> (Scratch, MediaEngine) {
        let scratch = try Scratch()
        let program = try scratch.write(Array("#!/bin/sh\n\(script)\n".utf8), to: "soffice")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        var paths = scratch.tools.paths
        paths[.soffice] = program.path
        return (scratch, try MediaEngine(tools: MediaTools(paths: paths), folder: scratch.url("work")))
    }

    private let docx = [0x50, 0x4B, 0x03, 0x04] + Array("rest".utf8)

    @Test("without LibreOffice the package is named") func missing() async throws {
        let scratch = try Scratch(tools: MediaTools(paths: [:]))
        let file = try scratch.write(docx, to: "a.docx")
        #expect(!scratch.engine.office.isAvailable)
        await #expect(throws: MediaError.toolMissing(.soffice)) { try await scratch.engine.office.convert(file, format: .docx, to: scratch.url("a.pdf")) }
        #expect(MediaTool.soffice.package.contains("libreoffice-writer-nogui"))
    }

    @Test("it gets a profile of its own that loads nothing and runs nothing, and a file of a name that is Larder's") func call() async throws {
        let (scratch, engine) = try engine(
            #"""
            printf '%s\n' "$@" >"$HOME/arguments"; cat "$HOME/profile/user/registrymodifications.xcu" >>"$HOME/arguments"; cp "$HOME/arguments" in.pdf
            """#
        )
        let file = try scratch.write(docx, to: "-headless [a].docx")
        try await engine.office.convert(file, format: .docx, to: scratch.url("out.pdf"))
        let said = try String(contentsOf: scratch.url("out.pdf"), encoding: .utf8)
        let lines = said.split(separator: "\n")
        #expect(lines[0].hasPrefix("-env:UserInstallation=file:///"))
        #expect(lines.contains("--headless") && lines.contains("pdf"))
        #expect(lines.contains { $0.hasSuffix("/in.docx") } && !said.contains("[a]"))
        for setting in ["BlockUntrustedRefererLinks", "DisableMacrosExecution"] {
            #expect(said.contains("<prop oor:name=\"\(setting)\" oor:op=\"fuse\"><value>true</value>"))
        }
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("that it ends with 0 means nothing: what counts is the file") func noResult() async throws {
        let (scratch, engine) = try engine("exit 0")
        let file = try scratch.write(docx, to: "a.docx")
        await #expect(throws: MediaError.damaged("LibreOffice cannot convert it; a password, perhaps")) {
            try await engine.office.convert(file, format: .docx, to: scratch.url("out.pdf"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
    }

    @Test("only what begins as its format does is given to it", arguments: [(OfficeFormat.docx, "text"), (.doc, "PK\u{3}\u{4}"), (.rtf, "plain"), (.xlsx, "")])
    func signatures(format: OfficeFormat, content: String) async throws {
        let (scratch, engine) = try engine("echo x >in.pdf")
        let file = try scratch.write(Array(content.utf8), to: "a")
        await #expect(throws: MediaError.unsupported("a file that is not \(format.rawValue.uppercased())")) {
            try await engine.office.convert(file, format: format, to: scratch.url("out.pdf"))
        }
    }

    @Test("formats by the ending of a name") func formats() {
        #expect(OfficeFormat(fileName: "Report.final.DOCX") == .docx)
        #expect(OfficeFormat(fileName: "a.odp") == .odp)
        #expect(OfficeFormat(fileName: "docx") == nil)
        #expect(OfficeFormat(fileName: "a.pdf") == nil)
        #expect(OfficeFormat(fileName: "a.") == nil)
    }
}
