import ArgumentParser
import Foundation
import Logging
import NIOPosix
import ResponseStore
import Upstream

/// `larder doctor`: checks everything that Larder needs, and reports what is wrong.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check settings, data directory, database, store, key, files, certificate, libraries, programs, upstreams.",
        discussion: """
            The data is looked at as larder serve does at its start, and left as it is.
            With --deep all files are read and compared with their checksums.

            Exit code 0: all is well. 1: Larder cannot work like this, or files of stored
            data are missing. 2: Larder works, but not all of it: an upstream cannot be
            reached (it will respond from its store), a program is missing, there are
            files that no row names, or the certificate ends soon or is not for the
            address.

            EXAMPLES
              larder doctor
              larder doctor --deep --data-directory ./data
              larder doctor --upstreams-spacex-url http://127.0.0.1:9000/spacex
            """
    )

    @Flag(name: .long, help: "Read all files of the data directory, and compare them with their checksums.")
    var deep = false

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let bar = ProgressBar()
        defer { bar.end() }
        var findings = DataCheck.findings(
            at: configuration.dataDirectory,
            migrations: configuration.apps.migrations,
            amounts: configuration.apps.storedAmounts,
            readsFiles: deep,
            progress: bar.show(_:)
        )
        if let store = configuration.store {
            bar.show("asking the store", 0, of: 0)
            findings.append(await StoreCheck.finding(store, configuration.apps))
        }
        findings.append(AccessFinding.finding(configuration.http))
        findings += CertificateCheck.findings(configuration.http, now: Date())
        findings.append(Libraries.sqlite())
        findings.append(Libraries.zlib())
        bar.show("trying programs", 0, of: 0)
        findings += try await MediaCheck.findings(configuration.media)
        let elsewhere = configuration.elsewhere.upstreams
        let upstreams = configuration.upstreams.byName.values.filter { !elsewhere.contains($0.name) }
        for upstream in upstreams.sorted(by: { $0.name < $1.name }) {
            bar.show("asking \(upstream.name)", 0, of: 0)
            findings.append(try await UpstreamCheck.finding(upstream))
        }
        bar.end()
        StandardOutput.write(Check.table(findings))
        if findings.contains(where: { $0.verdict == .broken }) { throw ExitCode(1) }
        if findings.contains(where: { $0.verdict == .degraded }) { throw ExitCode(2) }
    }
}

/// One line of the doctor's table.
struct Check: Sendable, Equatable {
    enum Verdict: String, Sendable {
        case well = "ok"
        /// Optional, and not there.
        case absent = "none"
        case degraded = "warn"
        case broken = "FAIL"
    }

    let subject: String
    let verdict: Verdict
    let detail: String

    init(_ subject: String, _ verdict: Verdict, _ detail: String) {
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
    }

    static func table(_ findings: [Check]) -> String {
        let width = findings.map(\.subject.count).max() ?? 0
        return findings.map { finding in
            let subject = finding.subject.padding(toLength: width, withPad: " ", startingAt: 0)
            let verdict = finding.verdict.rawValue.padding(toLength: 4, withPad: " ", startingAt: 0)
            return "\(subject)  \(verdict)  \(finding.detail)\n"
        }.joined()
    }
}
