//! Profiles as JSON.

use super::{Counts, Profile};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the form: raised where something that was there means something else or is gone.
const VERSION: u32 = 1;
const SCHEMA: &str = "toyjit-profile";

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    version: u32,
    toyjit: String,
    level: u8,
    program: String,
    code: String,
    functions: Vec<Function>,
}

#[derive(Serialize, Deserialize)]
struct Function {
    name: String,
    blocks: Vec<(u32, u64)>,
    edges: Vec<(u32, u32, u64)>,
}

impl Profile {
    /// As JSON.
    pub fn to_json(&self) -> String {
        let functions = self.functions.iter().map(|counts| Function {
            name: counts.name.clone(),
            blocks: counts.blocks.clone(),
            edges: counts.edges.clone(),
        });
        let file = File {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            toyjit: env!("CARGO_PKG_VERSION").to_owned(),
            level: self.level,
            program: format!("{:016x}", self.program),
            code: format!("{:016x}", self.code),
            functions: functions.collect(),
        };
        // Strings and numbers in lists: nothing of it can fail.
        serde_json::to_string(&file).unwrap_or_default() + "\n"
    }

    /// From JSON; what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no profile: {error}"))?;
        if value["schema"] != SCHEMA {
            return Err("it is no profile, as `toyjit run --profile` writes them".to_owned());
        }
        if value["version"] != VERSION {
            let version = &value["version"];
            return Err(format!("it is a profile of version {version}, not {VERSION}"));
        }
        let file: File = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let hash =
            |text: &str| u64::from_str_radix(text, 16).map_err(|_| format!("`{text}` is no hash"));
        let functions = file.functions.into_iter().map(|Function { name, blocks, edges }| Counts {
            name,
            blocks,
            edges,
        });
        Ok(Self {
            level: file.level,
            program: hash(&file.program)?,
            code: hash(&file.code)?,
            functions: functions.collect(),
        })
    }
}
