import Foundation
import Testing

@testable import Media

@Suite struct OfficeConverterTests {
    /// A script in place of LibreOffice: the tests check its arguments and the use of its results.
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
        await #expect(throws: MediaError.toolMissing(.soffice)) {
            try await scratch.engine.office.convert(file, format: .docx, to: scratch.url("a.pdf"))
        }
        #expect(MediaTool.soffice.package.contains("libreoffice-writer-nogui"))
    }

    @Test("it gets a profile of its own that loads nothing and runs nothing, and a file of a name that is Larder's")
    func call() async throws {
        let (scratch, engine) = try engine(
            #"""
            printf '%s\n' "$@" >"$HOME/arguments"
            cat "$HOME/profile/user/registrymodifications.xcu" >>"$HOME/arguments"
            cp "$HOME/arguments" in.pdf
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

    @Test("it can read its own document and no other, whatever its arguments") func confined() async throws {
        let elsewhere = try Scratch()
        let secret = try elsewhere.write("PRIVATE".utf8, to: "private")
        let (scratch, engine) = try engine("cat in.docx '\(secret.path)' >in.pdf 2>&1")
        let file = try scratch.write(docx, to: "a.docx")
        try await engine.office.convert(file, format: .docx, to: scratch.url("out.pdf"))
        let said = String(decoding: try Data(contentsOf: scratch.url("out.pdf")), as: UTF8.self)
        #expect(said.contains("rest") && said.contains("Permission denied") && !said.contains("PRIVATE"), "\(said)")
    }

    @Test("if it cannot be confined it is not run, and that is reported") func unconfined() async throws {
        let (scratch, _) = try engine("echo x >in.pdf")
        let confine = try scratch.write(
            "#!/bin/sh\necho 'larder-confine: unsupported' >&2; exit 125\n".utf8,
            to: "confine"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: confine.path)
        var paths = scratch.tools.paths
        (paths[.soffice], paths[.confine]) = (scratch.url("soffice").path, confine.path)
        let engine = try MediaEngine(tools: MediaTools(paths: paths), folder: scratch.url("work"))
        let file = try scratch.write(docx, to: "a.docx")
        await #expect(throws: MediaError.unconfined(.soffice)) {
            try await engine.office.convert(file, format: .docx, to: scratch.url("a.pdf"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("a.pdf").path))
    }

    @Test("that it ends with 0 means nothing: what counts is the file") func noResult() async throws {
        let (scratch, engine) = try engine("exit 0")
        let file = try scratch.write(docx, to: "a.docx")
        await #expect(throws: MediaError.damaged("LibreOffice cannot convert it; a password, perhaps")) {
            try await engine.office.convert(file, format: .docx, to: scratch.url("out.pdf"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
    }

    @Test(
        "only what begins as its format does is given to it",
        arguments: [(OfficeFormat.docx, "text"), (.doc, "PK\u{3}\u{4}"), (.rtf, "plain"), (.xlsx, "")]
    )
    func signatures(format: OfficeFormat, content: String) async throws {
        let (scratch, engine) = try engine("echo x >in.pdf")
        let file = try scratch.write(Array(content.utf8), to: "a")
        await #expect(throws: MediaError.unsupported("a file that is not \(format.rawValue.uppercased())")) {
            try await engine.office.convert(file, format: format, to: scratch.url("out.pdf"))
        }
    }

    @Test("its socket is known by the profile, and is removed with the job") func pipe() async throws {
        #expect(
            OfficePipe.path(profile: "file:///tmp/cw/profile", user: 0)
                == "/tmp/OSL_PIPE_0_SingleOfficeIPC_edf3c6cdd0fe5cb3ca50b2e72dfdfd"
        )
        let (scratch, engine) = try engine(
            """
            profile=${1#-env:UserInstallation=}; echo "$profile" >in.pdf
            hash=$(printf %s "$profile" | iconv -t utf-16le | md5sum | sed 's/ .*//; s/../&\\n/g')
            pipe="/tmp/OSL_PIPE_$(id -u)_SingleOfficeIPC_$(echo "$hash" | sed '/^$/d; s/^0//' | tr -d '\\n')"
            perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0);bind(S,sockaddr_un($ARGV[0]))or die $!' "$pipe" 2>>in.pdf
            ls -d "$pipe" >>in.pdf 2>&1; echo x 2>>in.pdf >/tmp/larder-escaped-$$
            """
        )
        let file = try scratch.write(docx, to: "a.docx")
        try await engine.office.convert(file, format: .docx, to: scratch.url("out.pdf"))
        let lines = try String(contentsOf: scratch.url("out.pdf"), encoding: .utf8).split(separator: "\n").map(
            String.init
        )
        let path = OfficePipe.path(profile: lines[0], user: getuid())
        #expect(lines.dropFirst().first == path && lines.last?.contains("ermission denied") == true, "\(lines)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("formats by the ending of a name") func formats() {
        #expect(OfficeFormat(fileName: "Report.final.DOCX") == .docx)
        #expect(OfficeFormat(fileName: "a.odp") == .odp)
        #expect(OfficeFormat(fileName: "docx") == nil)
        #expect(OfficeFormat(fileName: "a.pdf") == nil)
        #expect(OfficeFormat(fileName: "a.") == nil)
    }
}
