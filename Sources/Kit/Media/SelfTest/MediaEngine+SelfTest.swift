import Foundation

extension MediaEngine {
    /// The result of a self-test of a tool.
    public struct Check: Sendable, Equatable {
        /// The tool.
        public let tool: MediaTool
        /// The tested ability, such as `HEIC`; nil for the presence of the tool.
        public let ability: String?
        /// Whether it works; nil if it was not tried yet.
        public let works: Bool?
        /// Version and path if it works, else the error; for the operator.
        public let detail: String

        /// What to install so that it works.
        public var install: String { ability == GlyphSample.ability ? GlyphSample.packages : tool.package }
    }

    /// What a self-test will find, before it has: only that a program is missing is known.
    public func untested() -> [Check] {
        var subjects: [(MediaTool, String?)] = MediaTool.allCases.map { ($0, nil) }
        subjects += [(.vips, "HEIC"), (.pdfWorker, GlyphSample.ability)]
        return subjects.map { tool, ability in
            guard tools.paths[tool] != nil else { return missing(tool, ability) }
            return Check(tool: tool, ability: ability, works: nil, detail: "not tried yet")
        }
    }

    private func missing(_ tool: MediaTool, _ ability: String?) -> Check {
        Check(
            tool: tool,
            ability: ability,
            works: false,
            detail: "missing (\(tool.purpose)); install \(tool.package)"
        )
    }

    /// Tests every tool: its version, a small HEIC with `vips`, and letters of several scripts with the fonts of the
    /// worker. It takes about half a second.
    public func selfTest() async -> [Check] {
        var checks: [Check] = []
        for tool in MediaTool.allCases {
            checks.append(await presence(of: tool))
        }
        checks.append(await attempt(.vips, "HEIC") { try await decodeSample() })
        checks.append(await attempt(.pdfWorker, GlyphSample.ability) { try await lookForGlyphs() })
        return checks
    }

    private func presence(of tool: MediaTool) async -> Check {
        guard let path = tools.paths[tool] else { return missing(tool, nil) }
        return await attempt(tool, nil) {
            let outcome = try await pictures.bench.withFolder {
                try await pictures.bench.run(tool, tool.versionArguments, in: $0)
            }
            // pdftoppm writes its version to standard error.
            let text = String(decoding: outcome.output, as: UTF8.self) + outcome.errors
            guard outcome.ending == .exited(0), let line = text.split(whereSeparator: \.isNewline).first else {
                throw MediaError.failed(tool, "says no version")
            }
            return "\(line), \(path)"
        }
    }

    private func attempt(_ tool: MediaTool, _ ability: String?, _ body: () async throws -> String) async -> Check {
        do {
            return Check(tool: tool, ability: ability, works: true, detail: try await body())
        } catch MediaError.toolMissing(let missing) {
            return Check(
                tool: tool,
                ability: ability,
                works: false,
                detail: "needs \(missing.executable); install \(missing.package)"
            )
        } catch MediaError.failed(_, let reason) {
            return Check(tool: tool, ability: ability, works: false, detail: reason)
        } catch {
            return Check(tool: tool, ability: ability, works: false, detail: "\(error)")
        }
    }

    private func decodeSample() async throws -> String {
        let picture = try await pictures.scale(.bytes(Data(SampleHEIC.bytes)), width: 8, height: 8, coding: .png)
        guard picture.width == 8, picture.height == 8 else {
            throw MediaError.damaged("the sample came out as \(picture.width) × \(picture.height)")
        }
        return "a sample decodes"
    }

    private func lookForGlyphs() async throws -> String {
        let missing = try await documents.missingGlyphs(in: GlyphSample.text)
        guard missing.isEmpty else {
            throw MediaError.failed(
                .pdfWorker,
                "no font has \(missing.joined(separator: " ")); install \(GlyphSample.packages)"
            )
        }
        return "the fonts have letters of \(GlyphSample.scripts)"
    }
}

extension MediaTool {
    var versionArguments: [String] {
        switch self {
        case .prlimit, .confine, .vips, .soffice, .pdfWorker: ["--version"]
        case .pdftoppm: ["-v"]
        }
    }
}

/// Letters that the installed fonts must have.
enum GlyphSample {
    static let ability = "glyphs"
    static let scripts = "Latin, Greek, Cyrillic, Hebrew, Arabic, Chinese, Japanese, Korean, and emoji"
    static let text = "Aaé Ωλ Жя אב عرب 中文 かカ 한글 😀"
    static let packages = "fonts-dejavu-core fonts-wqy-microhei fonts-noto-color-emoji"
}
