import Foundation

extension MediaEngine {
    /// The result of a self-test of a tool.
    package struct Check: Sendable, Equatable {
        package let tool: MediaTool
        /// The tested ability, such as `HEIC`; nil for the presence of the tool.
        package let ability: String?
        /// Whether it works; nil if it was not tried yet.
        package let works: Bool?
        /// Version and path if it works, else the error; for the operator.
        package let detail: String

        /// The packages that a failed check lacks.
        package var install: String { Ability(rawValue: ability ?? "")?.install ?? tool.package }
    }

    /// The tested abilities of the programs.
    private enum Ability: String, CaseIterable {
        case heic = "HEIC"
        case heicOfIOS18 = "HEIC-iOS-18"
        case glyphs

        var tool: MediaTool { self == .glyphs ? .pdfWorker : .vips }

        var install: String {
            switch self {
            case .heic: "libvips-tools libheif-plugin-libde265"
            case .heicOfIOS18:
                "libheif 1.18 or later (Debian 12: libheif1 and libheif-plugin-libde265 of its backports)"
            case .glyphs: "libpangocairo-1.0-0 \(GlyphSample.packages)"
            }
        }
    }

    /// Returns the checks before a self-test has run: only missing programs are known.
    package func untested() -> [Check] {
        var subjects: [(MediaTool, String?)] = MediaTool.allCases.map { ($0, nil) }
        subjects += Ability.allCases.map { ($0.tool, $0.rawValue) }
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

    /// Tests every tool: its version, small HEICs with `vips`, and letters of several scripts with the fonts of the
    /// worker. It takes about half a second.
    package func selfTest() async -> [Check] {
        var checks: [Check] = []
        for tool in MediaTool.allCases {
            checks.append(await presence(of: tool))
        }
        for ability in Ability.allCases {
            let check = await attempt(ability.tool, ability.rawValue) {
                switch ability {
                case .heic: try await decode(SampleHEIC.plain)
                case .heicOfIOS18: try await decode(SampleHEIC.iOS18)
                case .glyphs: try await lookForGlyphs()
                }
            }
            checks.append(check)
        }
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
        let install = ability.flatMap(Ability.init(rawValue:))?.install ?? tool.package
        let failure: String
        do {
            return Check(tool: tool, ability: ability, works: true, detail: try await body())
        } catch MediaError.toolMissing(let missing) {
            failure = "needs \(missing.executable); install \(missing.package)"
        } catch MediaError.failed(_, let reason) {
            failure = reason
        } catch MediaError.unavailable(let reason) where reason.contains("shared libraries") {
            failure = "\(reason.split(whereSeparator: \.isNewline).first ?? ""); install \(install)"
        } catch MediaError.undecodable(let kind) {
            failure = "cannot read this kind of \(kind); install \(install)"
        } catch {
            failure = "\(error)"
        }
        return Check(tool: tool, ability: ability, works: false, detail: failure)
    }

    private func decode(_ sample: Data) async throws -> String {
        let picture = try await pictures.scale(.bytes(sample), width: 8, height: 8, coding: .png)
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
    static let scripts = "Latin, Greek, Cyrillic, Hebrew, Arabic, Chinese, Japanese, Korean, and emoji"
    static let text = "Aaé Ωλ Жя אב عرب 中文 かカ 한글 😀"
    static let packages = "fonts-dejavu-core fonts-wqy-microhei fonts-noto-color-emoji"
}

/// Small pictures for tests of the installed libheif.
enum SampleHEIC {
    /// 16 × 16 pixels, made with `vips copy` of libvips 8.14 from a gradient. It needs the codec, which is a package of
    /// its own since libheif 1.16.
    static let plain = decoded(
        """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAA
        AAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAALgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYA
        AAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe
        8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAAD
        AIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAA
        AgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAADZtZGF0AAAAKigBrwQSE2kg+OmL2lmZPeT7mUc4BoDHuIbpaZudxPndQMFm
        +7aAvHg03A==
        """
    )

    /// 16 × 16 pixels as iPhones with iOS 18 save them. The gain map for HDR is an auxiliary picture of two items, the
    /// picture itself and its form for HDR (`tmap`), which libheif refuses before 1.18. Both are hvc1 by pillow-heif
    /// 1.8.1.
    static let iOS18 = decoded(
        """
        AAAAJGZ0eXBoZWljAAAAAG1pZjFNaUhCbWlhZmhlaWN0bWFwAAAC1W1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAHBpY3QAAAAAAAAAAAAAAAAAAAAA
        DnBpdG0AAAAAAAEAAABNaWluZgAAAAAAAwAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAAACAABodmMxAAAAABVpbmZlAgAAAAADAAB0
        bWFwAAAAACxpcmVmAAAAAAAAABBhdXhsAAIAAgABAAMAAAAQZGltZwADAAIAAQACAAABvWlwcnAAAAGPaXBjbwAAAHVodmNDAQNwAAAAkAAAAAAA
        HvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm4CGgwIAAAAyAAAAD
        AIRiAAEABkQBwXPBiQAAABNjb2xybmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAAChjbGFwAAAAEAAAAAEAAAAQAAAAAf///9AAAAAC
        ////0AAAAAIAAAAQcGl4aQAAAAADCAgIAAAAcWh2Y0MBBAgAAACf+AAAAAAe8AD8/Pj4AAAPA2AAAQAXQAEMAf//BAgAAAMAn/gAAAMAAB66AkBh
        AAEAJkIBAQQIAAADAJ/4AAADAAAewIIEFluqumubAgAAAwAyAAADAAIQYgABAAZEAcFzwYkAAAAOcGl4aQAAAAABCAAAADRhdXhDAAAAAHVybjpj
        b206YXBwbGU6cGhvdG86MjAyMDphdXg6aGRyZ2Fpbm1hcAAAAAAmaXBtYQAAAAAAAAADAAEFgQIDBYQAAgWGAwcIhAADAwMFhAAAACRncnBsAAAA
        HGFsdHIAAAAAAAAACgAAAAIAAAADAAAAAQAAAEBpbG9jAQAAAEQAAAMAAQAAAAAAAQAAAwEAAABaAAIAAAAAAAEAAANbAAAAKQADAAAAAAABAAAD
        hAAAAD4AAADJbWRhdAAAAFYoAa8TIXfHQPUhn4NMK/zcD35ss4KhsJbbp0aci+YvsmDuJ0DOmHm+msCcvbqaDaaUmXw+6XcBePjhYKxbVD2rlNOl
        EjnqKddh9iyS2Srd0K8cAEEOeAAAACUoAa4mQmsk579hBDdMJ1N5u0NjQqoFC0imLIwgtSLARICsJoAsAAAAAAAAAAAAAAAAAAEAAAABAAAAAQAA
        AAAAAAABAAAAAQAAAAEAAAABAAAAAQAAAAEAAABAAAAAAQAAAEA=
        """
    )

    private static func decoded(_ base64: String) -> Data {
        Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
    }
}
