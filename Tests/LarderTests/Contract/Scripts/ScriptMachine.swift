import Foundation
import Subprocess
import TestKit

/// A checkout of the scripts on a machine of which everything is made up that they ask and change: its packages, its
/// user, `apt-get`, `sudo` and `swift`. Those write down how they were called.
struct ScriptMachine: Sendable {
    /// How a script ended.
    struct Outcome: Sendable {
        let code: Int32
        let output: String
        let errors: String
    }

    /// Programs that are taken from this machine: they do the same everywhere.
    private static let real = [
        "bash", "cat", "cksum", "cmp", "comm", "cp", "cut", "dirname", "env", "getconf", "grep", "mkdir", "mktemp",
        "paste", "rm", "sed", "sort", "tee",
    ]

    private static let made = [
        // As dpkg's own: prints the packages that it knows, in the format given, and fails if it does not know one.
        "dpkg-query": #"""
        shift 2; format=$1; shift; code=0
        for package in "$@"; do
          if status=$(sed -n "s/^$package //p" "$MACHINE/packages") && [ -n "$status" ]; then
            line=${format//'${Package}'/$package}; line=${line//'${Status}'/$status}
            printf '%b' "${line//'${db:Status-Status}'/${status##* }}"
          else
            echo "no packages found matching $package" >&2; code=1
          fi
        done
        exit $code
        """#,
        "apt-get": #"""
        if [ "$1" = indextargets ]; then
          case "$*" in
            *backports) [ -z "${HAS_BACKPORTS:-}" ] || echo bookworm-backports ;;
            *) printf '%s\n' http://mirror/debian/ http://mirror/debian/ ;;
          esac
          exit 0
        fi
        echo "apt-get $*" >> "$MACHINE/log"
        case "$*" in *${APT_FAILS_AT:-/}*) [ -n "${APT_FAILS_AT:-}" ] && exit 100 ;; esac
        [ "$1" = "${APT_FAILS:-}" ] && { echo "E: $1 failed" >&2; exit 100; }
        exit 0
        """#,
        // Swift brings its own clang.
        "clang": "exit 0",
        "id": #"echo "$USER_ID""#,
        "sudo": #"echo "sudo $1" >> "$MACHINE/log"; exec "$@""#,
        "swift": #"""
        echo "swift $*" >> "$MACHINE/log"
        case "$*" in
          *--show-bin-path) echo "$MACHINE/bin" ;;
          test*) echo "${TEST_OUTPUT:-Test run with 3 tests passed}"; exit "${TEST_CODE:-0}" ;;
        esac
        """#,
        // As a program and, in a virtual environment, as its pip.
        "python3": #"""
        echo "python3 $*" >> "$MACHINE/log"
        if [ "$1 $2" = "-m venv" ]; then
          mkdir -p "$3/bin" && cp "$0" "$3/bin/pip" && cp "$0" "$3/bin/python"
        else
          exit "${PYTHON_CODE:-0}"
        fi
        """#,
        "larder": #"""
        echo "larder $*" >> "$MACHINE/log"
        printf '%s\n' "pages on http://pages/" "listening on http://here"
        exit "${LARDER_CODE:-0}"
        """#,
    ]

    /// Runs a script by a path that is not absolute, from another folder than the checkout.
    private static let fromAbove =
        #"cd "$1/.." && checkout=${1##*/} && shift && exec bash "$checkout/script/$0" "$@""#

    private let checkout: TemporaryFolder
    private let machine: TemporaryFolder
    private var programs: URL { machine.url.appending(path: "bin") }

    /// Creates a machine.
    ///
    /// - Parameters:
    ///   - packages: status of each package that dpkg knows, such as `install ok installed`.
    ///   - release: its `/etc/os-release`.
    ///   - missing: programs and files that it does not have.
    init(packages: [String: String] = [:], release: String = "", without missing: Set<String> = []) throws {
        checkout = try TemporaryFolder()
        machine = try TemporaryFolder()
        let files = FileManager.default
        try files.copyItem(at: Repository.root.appending(path: "script"), to: checkout.url.appending(path: "script"))
        try files.createDirectory(at: programs, withIntermediateDirectories: true)
        for name in Self.real {
            let place = ["/usr/bin/", "/bin/"].map { $0 + name }.first(where: files.isExecutableFile)
            try files.createSymbolicLink(atPath: program(name), withDestinationPath: place ?? name)
        }
        for (name, text) in Self.made where !missing.contains(name) {
            try Data("#!/usr/bin/env bash\n\(text)\n".utf8).write(to: URL(filePath: program(name)))
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program(name))
        }
        for folder in ["Sources", "Tests", "examples", "Sources/CWebAssets/site"] where !missing.contains(folder) {
            try files.createDirectory(at: checkout.url.appending(path: folder), withIntermediateDirectories: true)
        }
        try write("", to: "Package.swift")
        for name in ["Clients", "Clients/pytest", "Web"] {
            let folder = checkout.url.appending(path: "Tests/\(name)")
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try write("tool==1.0", to: "Tests/\(name)/requirements.txt")
        }
        let known = packages.map { "\($0.key) \($0.value)\n" }.joined()
        try Data(known.utf8).write(to: machine.url.appending(path: "packages"))
        try files.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(release.utf8).write(to: machine.url.appending(path: "etc/os-release"))
    }

    /// Writes a file of the checkout.
    func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: checkout.url.appending(path: path))
    }

    /// Its folder of sources of packages.
    var sources: URL { machine.url.appending(path: "etc/apt/sources.list.d") }

    private func program(_ name: String) -> String { programs.appending(path: name).path }

    /// Runs a script of the checkout to its end.
    ///
    /// - Parameters:
    ///   - script: its name.
    ///   - user: the number of the user; root is 0.
    ///   - variables: more of the environment.
    func run(_ script: String, _ arguments: String..., user: Int = 0, with variables: [String: String] = [:])
        async throws -> Outcome
    {
        let own = [
            "PATH": programs.path, "MACHINE": machine.path, "USER_ID": "\(user)", "TMPDIR": machine.path,
            "ETC": machine.path + "/etc",
        ]
        let environment = own.merging(variables) { _, new in new }.map { (Environment.Key(stringLiteral: $0), $1) }
        let result = try await Subprocess.run(
            .name("bash"),
            arguments: Arguments(["-c", Self.fromAbove, script, checkout.path] + arguments),
            environment: .custom(Dictionary(uniqueKeysWithValues: environment)),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code), .signaled(let code): code
            }
        return Outcome(code: code, output: result.standardOutput, errors: result.standardError)
    }

    /// Calls of the programs, in order, such as `apt-get update -qq`.
    var calls: [String] {
        let log = (try? String(contentsOf: machine.url.appending(path: "log"), encoding: .utf8)) ?? ""
        return log.split(separator: "\n").map(String.init)
    }

    /// The packages that `apt-get` was to install.
    var installed: Set<String> {
        let call = calls.first { $0.hasPrefix("apt-get install") } ?? ""
        return Set(call.split(separator: " ").dropFirst(2).filter { !$0.hasPrefix("-") }.map(String.init))
    }

    /// The checkout's file of versions.
    var resolved: URL { checkout.url.appending(path: "Package.resolved") }
}
