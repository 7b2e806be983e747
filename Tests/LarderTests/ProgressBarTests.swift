import Testing

@testable import Larder

@Suite struct ProgressBarTests {
    private func shown(isTerminal: Bool) -> [String] {
        var texts: [String] = []
        let bar = ProgressBar(isTerminal: isTerminal) { texts.append($0) }
        for part in 0...1000 { bar.show("copying files", part * 1024, of: 1000 * 1024) }
        bar.show("checking the database", 0, of: 0)
        bar.end()
        return texts
    }

    @Test("SRV-16 A terminal has one line that is written over, at most once for each percent, and removed at the end")
    func terminal() {
        let texts = shown(isTerminal: true)
        #expect(texts.count == 103 && texts.allSatisfy { !$0.contains("\n") && $0.hasPrefix("\r") })
        #expect(texts[50] == "\rcopying files          [###############---------------]  50 % of 1000.0 KiB\u{1B}[K")
        #expect(texts.suffix(2) == ["\rchecking the database …\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test("SRV-16 Elsewhere nothing is shown")
    func plain() {
        #expect(shown(isTerminal: false).isEmpty)
    }

    @Test("No line is wider than a terminal of 80 columns")
    func width() {
        let line = ProgressBar.bar("checking the database", 999 << 40, of: 999 << 40)
        #expect(line.count < 80 && line.contains("100 % of 999.0 TiB"))
    }

    @Test("The directory may be before, between and after settings; values of settings are not taken for it")
    func operands() {
        for arguments in [
            ["/b", "--http-port", "1", "--data-directory=/d"], ["--http-port", "1", "/b", "--data-directory=/d"],
            ["--http-port", "1", "--data-directory=/d", "/b"],
        ] {
            var options = SettingsOptions()
            options.settings = arguments
            #expect(options.takeOperands() == ["/b"])
            #expect(options.settings == ["--http-port", "1", "--data-directory=/d"])
        }
    }
}
